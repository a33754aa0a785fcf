// ValueStorage: how the values of blocks are stored that a merge makes: as they are, or coded as
// PackOptions::compression says.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "convert/recode.h"
#include "merge/storing/part_block.h"
#include "merge/storing/value_coder.h"
#include "nmb/dataset.h"
#include "nmb/merge.h"
#include "nmb/writer.h"
#include "wire/spool_file.h"

namespace nmb {

class ValueStorage {
 public:
  // options: must outlive this.
  ValueStorage(const PackOptions& options, std::vector<std::string>* warnings)
      : options_(options),
        warnings_(*warnings),
        chunk_uses_(options.compression ? options.compression->chunk.size() : 0) {}

  // What is planned from now on comes from this file.
  void begin_input(std::shared_ptr<const ByteSource> file);
  // Ahead of blocks that are no chunks. kUnsupported: they cannot be stored as the options say.
  Status check_codec(const Metadata& metadata);
  // A block taken over whole, before it is packed: its values are coded anew where that is done by
  // chunks, else *later has what note() is to be told. first_made_up: as for netcdf_view().
  Status prepare(const Dataset& dataset, std::optional<std::int64_t> first_made_up,
                 std::vector<ExtentPiece> coded, CodedFiles coded_in, PackedBlock* block,
                 ValuesToCode* later);
  // A block whose values code_all() may find shorter.
  void note(BlockId id, ValuesToCode values);
  // By the place in PackOptions::compression->chunk.
  const ChunkUse& chunk_use(std::size_t i) const { return chunk_uses_[i]; }
  // Whether values of the file that is made have chunks that PackOptions::compression codes with
  // zstd.
  bool has_zstd_chunks() const { return has_zstd_chunks_; }
  // Ahead of end_define(), as that must know the lengths: values that are stored in coded pieces.
  Status code_all(Writer& writer, std::vector<PartBlock>& parts,
                  const std::vector<PartSource>& sources);

 private:
  // Values that are coded together.
  struct Batch {
    std::vector<ValuesToCode> values;
    std::vector<BlockId> ids;
    std::vector<PartBlock*> parts;  // of each; nullptr: a packed block
    std::uint64_t bytes = 0;
    void add(BlockId id, ValuesToCode more, PartBlock* part);
    bool is_full() const;
  };

  PieceCodec codec() const;
  void note_dimensions(const Metadata& metadata);
  Status recode(const Dataset& dataset, std::optional<std::int64_t> first_made_up,
                PackedBlock* block);
  static Status code(ValueCoder& coder, Batch batch, Writer& writer);

  const PackOptions& options_;
  std::vector<std::string>& warnings_;
  std::vector<ChunkUse> chunk_uses_;
  bool has_zstd_chunks_ = false;
  std::shared_ptr<const ByteSource> file_;
  bool is_codec_checked_ = false;       // for the file
  std::shared_ptr<SpoolFile> recoded_;  // values that are coded anew
  std::vector<std::pair<BlockId, ValuesToCode>> to_code_;
};

}  // namespace nmb

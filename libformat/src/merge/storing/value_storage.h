// ValueStorage: how a merge stores the values of blocks: unchanged, or coded according to
// PackOptions::compression.
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
  // `options` must outlive the object.
  ValueStorage(const PackOptions& options, std::vector<std::string>* warnings)
      : options_(options),
        warnings_(*warnings),
        chunk_uses_(options.compression ? options.compression->chunk.size() : 0) {}

  // All blocks planned after this call come from this file.
  void begin_input(Source file);
  // Call this before blocks that are not stored in chunks. Errors: kUnsupported if they cannot be
  // stored according to the options.
  Status check_codec(const Metadata& metadata);
  // Call this for a block that is taken unchanged, before it is packed. If its values must be coded
  // in chunks, this encodes them; otherwise pass *later to note(). first_made_up: like that of
  // netcdf_view().
  Status prepare(const Dataset& dataset, std::optional<std::int64_t> first_made_up,
                 std::vector<ExtentPiece> coded, CodedFiles coded_in, PackedBlock* block,
                 ValuesToCode* later);
  // Records a block whose values code_all() may make shorter.
  void note(BlockId id, ValuesToCode values);
  // Returns the use of the chunk length at index `i` in PackOptions::compression->chunk.
  const ChunkUse& chunk_use(std::size_t i) const { return chunk_uses_[i]; }
  // Returns whether values in the new file have chunks that were encoded with zstd because of
  // PackOptions::compression.
  bool has_zstd_chunks() const { return has_zstd_chunks_; }
  // Encodes the values that are stored in coded pieces. Call this before end_define(), which must
  // know the lengths.
  Status code_all(Writer& writer, std::vector<PartBlock>& parts,
                  const std::vector<PartSource>& sources);

 private:
  // Values that are encoded together.
  struct Batch {
    std::vector<ValuesToCode> values;
    std::vector<BlockId> ids;
    std::vector<PartBlock*> parts;  // for each of them; nullptr: a packed block
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
  Source file_;
  bool is_codec_checked_ = false;       // for the current file
  std::shared_ptr<SpoolFile> recoded_;  // values that were encoded again
  std::vector<std::pair<BlockId, ValuesToCode>> to_code_;
};

}  // namespace nmb

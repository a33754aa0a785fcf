// ValueStorage: stores the values of blocks in a merge, either unchanged or encoded as
// PackOptions::compression requires.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "convert/recode.h"
#include "files/spool_file.h"
#include "merge/reporting/merge.h"
#include "merge/storing/output_part.h"
#include "merge/storing/value_coder.h"
#include "model/dataset.h"
#include "writer/file_writer.h"

namespace nmb {

class ValueStorage {
 public:
  // `options` must outlive the object.
  ValueStorage(const PackOptions& options, std::vector<std::string>* warnings)
      : options_(options),
        warnings_(*warnings),
        chunk_uses_(options.compression ? options.compression->chunk.size() : 0) {}

  // Begins an input: all blocks planned after this call come from `file`.
  void begin_input(Source file);
  // Checks that the options allow a block whose values are not stored in chunks. Call this before
  // the block is stored. Errors: kUnsupported.
  Status check_codec(const Metadata& metadata);
  // Prepares a block that is taken unchanged. Call this before the block is packed. If the values
  // must be encoded in chunks, this call encodes them; otherwise pass *later to note() after the
  // call. first_made_up: as for netcdf_view().
  Status prepare(const Dataset& dataset, std::optional<std::int64_t> first_made_up,
                 std::vector<ExtentPiece> coded, CodedFiles coded_in, PackedBlock* block,
                 ValuesToCode* later);
  // Records which chunk lengths and filters a block uses. The block's values already have the
  // requested chunks and filters.
  void note_chunks(const WantedChunks& chunks);
  // Records a block whose values code_all() may compress.
  void note(BlockId id, ValuesToCode values);
  // Returns how the chunk length at index `i` in PackOptions::compression->chunk was used.
  const ChunkUse& chunk_use(std::size_t i) const { return chunk_uses_[i]; }
  // Returns whether chunks were encoded with the codec of PackOptions::compression, and HDF5
  // programs need a plug-in for it.
  bool needs_plugin() const { return needs_plugin_; }
  // Returns how many bytes of values are not compressed, because an HDF5 view could not show them.
  std::uint64_t plain_for_view() const { return plain_for_view_; }
  // Encodes the values that are stored in coded pieces. Call this before end_define(), which needs
  // the lengths of the encoded values. helpers: see ValueCoder; may be nullptr.
  Status code_all(FileWriter& writer, std::vector<OutputPart>& parts,
                  const std::vector<PartSource>& sources, ChunkHelpers* helpers);

 private:
  // The values of several blocks, which are encoded together.
  struct Batch {
    std::vector<ValuesToCode> values;
    std::vector<BlockId> ids;
    std::vector<OutputPart*> parts;  // the block for each element of `values`; nullptr for a packed
                                     // block
    std::uint64_t bytes = 0;
    void add(BlockId id, ValuesToCode more, OutputPart* part);
    bool is_full() const;
  };

  PieceCodec codec() const;
  // Returns whether the pieces of a block are chosen so that an HDF5 view can show them. coded: the
  // coded pieces that the block already has.
  bool are_for_view(const std::vector<ExtentPiece>& coded) const;
  void note_dimensions(const Metadata& metadata);
  Status recode(const Dataset& dataset, std::optional<std::int64_t> first_made_up,
                PackedBlock* block);
  Status code(ValueCoder& coder, Batch batch, FileWriter& writer) const;

  const PackOptions& options_;
  std::vector<std::string>& warnings_;
  std::vector<ChunkUse> chunk_uses_;
  bool needs_plugin_ = false;
  Source file_;
  bool is_codec_checked_ = false;       // whether the codec was checked for the current file
  std::shared_ptr<SpoolFile> recoded_;  // values that were encoded again
  std::uint64_t plain_for_view_ = 0;
  std::vector<std::pair<BlockId, ValuesToCode>> to_code_;
};

}  // namespace nmb

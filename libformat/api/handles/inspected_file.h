// InspectedFile: a file of any kind, represented by blocks and totals. A classic file has one block
// with an empty name. An HDF5 file has one block for each group.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/compare.h"
#include "handles/glob.h"
#include "handles/input_file.h"
#include "netcdf/netcdf_view.h"
#include "reader/file_reader.h"

namespace nmb {

class NMB_EXPORT InspectedFile {
 public:
  // Errors: kNotFound, kIo, kDamaged; kUnsupported and kUnknownKind for files of other kinds; for
  // HDF5 files also the errors of open_hdf5(). options: for an NMB file.
  static Result<InspectedFile> open(std::shared_ptr<const InputFile> file,
                                    const ReadOptions& options = {});
  // The file of a reader; file() must not be called.
  static InspectedFile of(std::unique_ptr<FileReader> reader);

  const InputFile& file() const { return *file_; }
  // Returns the file's name without folder and ending.
  std::string stem() const;
  // Returns nullptr if the file is not an NMB file.
  const FileReader* reader() const { return reader_.get(); }
  // Returns the bytes of metadata in memory and of values in temporary files. Returns nullopt for
  // an NMB file, which is read when it is needed.
  std::optional<std::uint64_t> memory() const;
  bool is_classic() const { return nmb::is_classic(file_->kind()); }

  // The following functions work like the functions of Reader with the same names.
  const Totals& totals() const { return reader_ ? reader_->totals() : held_totals_; }
  Result<Totals> totals_of_prefix(std::string_view prefix) const;
  Result<std::optional<BlockEntry>> find(std::string_view block) const;
  Result<std::optional<BlockEntry>> at(std::uint64_t position) const;
  Result<std::optional<CountedObject>> counted(std::uint64_t BlockCounts::*count,
                                               std::uint64_t number) const;
  // from: entries whose names are less are left out.
  Status for_each_entry(std::string_view prefix,
                        const std::function<Result<bool>(const BlockEntry&)>& visit,
                        std::string_view from = {}) const;
  Result<std::shared_ptr<const Dataset>> dataset(const BlockEntry& entry) const;
  // Errors: kNotFound if there is no such block.
  Result<std::shared_ptr<const Dataset>> dataset(std::string_view block) const;
  // Returns the failure kNotFound for a name that is not the name of a block. If it is the name of
  // a variable, the message says so.
  Status no_block(std::string_view name) const;
  // Returns the functions above for calls of the library. The result refers to this object.
  FileBlocks blocks() const;
  ContentFile content() const { return {blocks(), file_->size()}; }

 private:
  // A block of a file that has no index. The metadata of the block is in memory.
  struct Held {
    BlockEntry entry;
    std::shared_ptr<const Dataset> dataset;
  };
  void hold(BlockEntry entry, std::shared_ptr<const Dataset> dataset);
  // Returns the first block whose name is not less than `name`.
  std::vector<Held>::const_iterator at_or_behind(std::string_view name) const;

  std::shared_ptr<const InputFile> file_;
  std::unique_ptr<FileReader> reader_;
  std::vector<Held> held_;  // by ascending name
  Totals held_totals_;
};

// Visits the blocks whose names match, in the order of names, until `visit` returns false. If the
// pattern is a literal name, reads only one path from the root of the index to a leaf. Otherwise
// reads all leaves with names that begin with the pattern's literal prefix. from: blocks whose
// names are less are left out.
NMB_EXPORT Status for_each_block(const InspectedFile& file, const NamePattern& pattern,
                                 const std::function<Result<bool>(const BlockEntry&)>& visit,
                                 std::string_view from = {});

}  // namespace nmb

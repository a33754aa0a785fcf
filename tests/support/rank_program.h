// Programs that ranks run together, or one process alone in the ranks' place: the files must be the
// same byte for byte.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/communicator.h"
#include "writer/file_writer.h"

namespace nmb::test {

// Options of a writer with pieces of 64 KiB, which small values fill; without sync.
FileWriterOptions small_pieces();

// A folder of the case's own, known to all ranks; removed by the last to go on rank 0.
class RankFolder {
 public:
  // Collective.
  static Result<RankFolder> make(Communicator& ranks);
  ~RankFolder();
  RankFolder(RankFolder&& other) noexcept
      : path_(std::move(other.path_)), owner_(std::exchange(other.owner_, false)) {}
  std::string file(std::string_view name) const { return (path_ / name).string(); }

 private:
  RankFolder(std::filesystem::path path, bool owner) : path_(std::move(path)), owner_(owner) {}
  std::filesystem::path path_;
  bool owner_;
};

// Definitions by name: what is there already is found again, as when one process acts for several
// ranks. The first failure stays.
class Definer {
 public:
  explicit Definer(FileWriter& writer) : writer_(writer) {}

  BlockId block(std::string_view name);
  DimId dimension(BlockId block, std::string_view name, std::uint64_t length);
  VarId variable(BlockId block, std::string_view name, Type type,
                 std::span<const DimId> dimensions);
  void text(BlockId block, VarId variable, std::string_view name, std::string_view text);
  void field(BlockId block, std::uint64_t EntryFields::*field, std::uint64_t value);
  void tag(BlockId block, std::string_view name, TagValue value);
  // Puts values count times first, first + 1, ... to a whole variable.
  void put(std::string_view block, std::string_view variable, int first);
  void put(std::string_view block, std::string_view variable, const Hyperslab& slab, int first);

  FileWriter& writer() { return writer_; }
  void keep(const Status& status) {
    if (status_.ok()) status_ = status;
  }
  template <class T>
  T value(Result<T> result) {
    keep(result.status());
    return result.ok() ? std::move(*result) : T();
  }
  const Status& status() const { return status_; }

 private:
  FileWriter& writer_;
  Status status_;
};

// What rank `rank` of `size` does, in phases that end with a collective call of the writer:
// definitions, end_define, values, sync, redefine, and again; close.
struct RankPhase {
  std::function<void(int rank, int size, Definer&)> define;
  std::function<void(int rank, int size, Definer&)> put;
};

// Runs the phases by all ranks; then rank 0 alone runs them in the place of all, without MPI-IO,
// and all ranks fail unless the files are the same and nmb::verify finds nothing.
Status same_bytes(Communicator& ranks, const FileWriterOptions& options,
                  const std::vector<RankPhase>& phases);

}  // namespace nmb::test

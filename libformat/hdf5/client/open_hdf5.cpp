// Opens HDF5 files as blocks (see client/hdf5.h).
#include <algorithm>
#include <iterator>
#include <utility>

#include "client/decode_group.h"
#include "client/hdf5.h"
#include "client/hdf5_file.h"
#include "wire/joined_text.h"

namespace nmb {

// A file may have at most kMostMetadata + kMostMetadataFactor × (file length) bytes of metadata.
// The limit can exceed the length of the file, because metadata that objects share is read again
// for each object.
static constexpr std::uint64_t kMostMetadata = std::uint64_t{1} << 30, kMostMetadataFactor = 4;

Result<std::vector<std::shared_ptr<const LoadedBlock>>> hdf5::open_groups(
    std::shared_ptr<const ByteSource> file, OtherFiles other_files,
    std::vector<std::string>* lost) {
  const std::string name = file->name();
  const std::uint64_t most = kMostMetadata + kMostMetadataFactor * file->size();
  std::vector<std::shared_ptr<const LoadedBlock>> blocks;
  std::uint64_t held = 0;
  const auto add = [&](hdf5::Hdf5Group group) -> Status {
    std::ranges::move(group.lost_references, std::back_inserter(*lost));
    NMB_ASSIGN(std::shared_ptr<const LoadedBlock> block,
               hdf5::decode_group(std::move(group), name));
    held += sizeof(LoadedBlock) + block->metadata.memory() + block->entry.raw_length;
    if (held > most)
      return failure(Code::kLimit, "found more than ", most,
                     " bytes of metadata, which is too much for a file of "
                     "this size");
    blocks.push_back(std::move(block));
    return {};
  };
  NMB_TRY(hdf5::read_file(std::move(file), add, {.other_files = other_files}));
  const auto less = [](const auto& a, const auto& b) { return a->name < b->name; };
  const auto same = [](const auto& a, const auto& b) { return a->name == b->name; };
  std::sort(blocks.begin(), blocks.end(), less);
  const auto twice = std::adjacent_find(blocks.begin(), blocks.end(), same);
  if (twice != blocks.end())
    return Status(Code::kDamaged, name, kNoOffset, "",
                  "found two groups /" + (*twice)->name + ", expected one");
  return blocks;
}

Result<std::vector<std::shared_ptr<const LoadedBlock>>> open_hdf5(
    std::shared_ptr<const ByteSource> file, hdf5::OtherFiles other_files) {
  std::vector<std::string> lost;
  return hdf5::open_groups(std::move(file), other_files, &lost);
}

}  // namespace nmb

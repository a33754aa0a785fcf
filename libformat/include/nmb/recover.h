// recover: copies the undamaged blocks of a damaged NMB file into a new file (spec/recovery.md).
// Neither the head nor the index of the damaged file is needed, and it is never changed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nmb/error.h"
#include "nmb/options.h"
#include "nmb/types.h"

namespace nmb {

// A reason to doubt a recovered version of a block.
enum class BlockDoubt : std::uint8_t {
  kNone,
  kOlder,                // the index says that there was a newer version, which is damaged
  kPerhapsOlder,         // damaged bytes may have been a newer version of the block, or its removal
  kPerhapsNotCommitted,  // it is not known whether the generation of this version was committed
};

// Returns the name of a doubt in reports: "", "older", "perhaps older or removed", "perhaps not
// committed".
constexpr std::string_view doubt_name(BlockDoubt doubt) {
  constexpr std::string_view names[] = {"", "older", "perhaps older or removed",
                                        "perhaps not committed"};
  return names[static_cast<std::size_t>(doubt)];
}

// Elements of a variable whose values are damaged or cannot be verified. The elements are
// neighbours in the file. They are counted in the order in which they are stored; for a variable
// with records, from the first element of record 0.
struct LostElements {
  std::string variable{};
  std::uint64_t first = 0, count = 0;
  bool unverified = false;  // whether only the checksums are lost
};

// A block whose header and definitions were found undamaged.
struct FoundBlock {
  enum class State : std::uint8_t {
    kWhole,       // all values are undamaged; the block is recovered
    kPartial,     // some values are damaged and become fill values; the block is recovered
    kUnverified,  // some values are copied without a check, others may be damaged; the block is
                  // recovered
    kLeftOut,     // some values are damaged or cannot be verified; the block is not recovered
  };
  std::string name{};
  std::uint64_t position = 0;    // position of the block's header in the damaged file
  std::uint64_t generation = 0;  // generation that wrote the header
  State state = State::kWhole;
  BlockDoubt doubt = BlockDoubt::kNone;
  // Damaged ranges of the block's values, in ascending order. Offsets count from the first value.
  std::vector<ByteRange> damaged{};
  // Ranges whose checksums are lost, although the place of the values is known.
  std::vector<ByteRange> unverified{};
  std::vector<LostElements> lost{};  // the elements in all these ranges
  std::string reason{};              // what is wrong with the first of these ranges
  // Whether some stored values of the block are neither damaged nor lost.
  bool has_values = true;
  // Whether RecoverOptions::partial (for damaged values) and RecoverOptions::unverified together
  // take the block.
  bool may_be_taken = true;
};

// A block whose header or definitions are damaged.
struct LostBlock {
  std::string name{};
  std::string reason{};
  // Whether it is uncertain that the newest generation has the block. Its name is then from an
  // older page of the index.
  bool perhaps_removed = false;
};

struct Recovery {
  // The newest generation of the damaged file that is known to be committed; 0 if none is known.
  std::uint64_t generation = 0;
  // Number of blocks of this generation; nullopt if its superblock is lost.
  std::optional<std::uint64_t> recorded_blocks{};
  std::vector<FoundBlock> blocks;  // sorted by name
  std::vector<LostBlock> lost;     // sorted by name
  // How many more blocks are lost at least, according to the superblock; their names are lost too.
  std::uint64_t lost_without_name = 0;
  // Whether other blocks may be lost: the superblock that says how many there were is lost, or some
  // of the blocks in `blocks` and `lost` may have been removed before.
  bool may_lack_blocks = false;
  // Losses other than blocks and values: originals, statistics, tags, provenance.
  std::vector<std::string> other_losses;
  std::uint64_t bytes_out = 0;  // size of the new file; 0 if nothing was written

  NMB_EXPORT std::uint64_t count(FoundBlock::State state) const;
  // Returns how many blocks are recovered, whole or in part.
  NMB_EXPORT std::uint64_t recovered() const;
  // Returns how many recovered blocks are doubtful.
  NMB_EXPORT std::uint64_t doubtful() const;
  // Returns whether the damaged file may have had blocks or variables that are not recovered.
  NMB_EXPORT bool lacks_objects() const;
  // Returns whether anything was lost or is doubtful.
  NMB_EXPORT bool is_loss() const;
};

struct RecoverOptions {
  bool replace = false;  // whether the output may replace an existing file
  bool sync = true;      // whether the call waits until the data are on the device
  // Which other blocks are recovered too. partial: blocks with damaged values, which become fill
  // values. unverified: blocks with values whose checksums are lost; these values are copied
  // without a check.
  bool partial = false, unverified = false;
  ExternalPaths external = ExternalPaths::kBeneath;  // which external files may be opened
  unsigned threads = 1;
  // Called by one thread at a time: first while the file is searched, then while it is copied.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress{};
  const std::atomic<bool>* cancel = nullptr;  // as in MergeOptions
};

// Recovers what is undamaged. If `output` is empty, only says what would be recovered. If blocks
// are lost and none can be recovered, writes nothing. Needs about 500 bytes of memory for each
// block and each page. Errors: kUnknownKind if nothing of an NMB file is found; kUnsupported for
// other kinds of files; kDamaged if there is a head but no block; kLimit; kUsage if `output` is
// `path`; kExists; kIo; kNoSpace.
NMB_EXPORT Result<Recovery> try_recover(const std::string& path, const std::string& output,
                                        const RecoverOptions& options = {});
inline Recovery recover(const std::string& path, const std::string& output,
                        const RecoverOptions& options = {}) {
  return check(try_recover(path, output, options));
}

}  // namespace nmb

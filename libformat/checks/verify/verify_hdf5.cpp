// Verifies HDF5 files group by group, in the order in which the groups are read
// (docs/reference/hdf5.md). The HDF5 library must be able to read each group, and the body of each
// group must be valid. No two values may share bytes, and all chunks must be decodable. The HDF5
// library checks the sums of metadata; values have sums only in chunks with the fletcher32 filter.
#include "verify/verify_hdf5.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/decode_group.h"
#include "client/hdf5_file.h"
#include "hdf5_types/hdf5_section.h"
#include "verify/chunk_checker.h"
#include "verify/metered_source.h"
#include "verify/space_map.h"
#include "verify/status_finding.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

// Findings have this rule if no rule of the NMB specification applies.
constexpr const char* kRule = "HDF5";
constexpr std::uint64_t kRead = 1 << 20;

// Parses a message of the form "OBJECT: HDF5: REASON". nmb-hdf5 uses this form if the HDF5 library
// has reported an error.
std::optional<Finding> finding_of_library(const Status& status) {
  constexpr std::string_view kSays = "HDF5: ";
  const std::string& text = status.message();
  const std::size_t at = text.find(kSays);
  if (at == text.npos || (at > 0 && !std::string_view(text).substr(0, at).ends_with(": ")))
    return std::nullopt;
  return Finding{kRule, kNoOffset, at < 2 ? "" : text.substr(0, at - 2),
                 "an error of the HDF5 library: " + text.substr(at + kSays.size()), ""};
}

class Hdf5Verifier {
 public:
  Hdf5Verifier(const ByteSource& file, const VerifierOptions& options, Findings& findings)
      : options_(options),
        findings_(findings),
        source_(std::make_shared<MeteredSource>(file, options)) {}

  Result<VerifySummary> run() {
    summary_.kind = "HDF5";
    const Status read = hdf5::read_file(source_, [&](hdf5::Hdf5Group group) -> Status {
      check_group(std::move(group));
      return {};
    });
    if (read.code() == Code::kDamaged) {
      const std::optional<Finding> said = finding_of_library(read);
      report(said ? *said : finding_of(read));
    } else if (!read.ok()) {
      if (summary_.recorded_blocks == 0) return read;
      missed(read);
    }
    report_not_read();
    summary_.bytes_read = source_->bytes();
    return summary_;
  }

 private:
  bool at_least(VerifyLevel level) const { return options_.level >= level; }

  void report(Finding finding) {
    if (finding.rule.empty()) finding.rule = kRule;
    if (finding.severity == Severity::kWarning) {
      ++summary_.warnings;
    } else {
      ++summary_.findings;
      damaged_ = true;
    }
    findings_.report(std::move(finding));
  }
  // Reports that an object cannot be read or is damaged.
  void report(const Status& status, const std::string& object, std::uint64_t position) {
    if (status.code() != Code::kDamaged) return missed(status);
    Finding finding = finding_of(status);
    finding.offset = position;
    finding.object = object + (finding.object.empty() ? "" : ", " + finding.object);
    report(std::move(finding));
  }
  void missed(const Status& status) {
    if (summary_.incomplete.ok()) summary_.incomplete = status.in_file(source_->name());
    missed_ = true;
  }

  void check_group(hdf5::Hdf5Group group) {
    ++summary_.recorded_blocks;
    damaged_ = missed_ = false;
    const std::string name = group.name;
    check_block(std::move(group));
    if (damaged_)
      ++summary_.damaged_blocks;
    else if (!missed_)
      ++summary_.sound_blocks;
    if (damaged_ && options_.on_damaged_block) options_.on_damaged_block(name);
  }

  void check_block(hdf5::Hdf5Group group) {
    const std::string object = "block \"" + group.name + "\"";
    in_file_ = std::move(group.in_file);
    const bool overlap = at_least(VerifyLevel::kBlocks) && has_overlap(object);
    const Result<std::shared_ptr<const LoadedBlock>> block =
        hdf5::decode_group(std::move(group), source_->name());
    if (!block.ok()) return report(block.status(), object, kNoOffset);
    check_absent(**block, object);
    // Values that share bytes are not read: reading the same bytes again and again could take
    // unlimited time.
    if (overlap || !at_least(VerifyLevel::kData)) return;
    check_values(**block, object);
  }

  // Reports values that share bytes with other values. Returns whether there are any.
  bool has_overlap(const std::string& object) {
    bool overlap = false;
    for (const hdf5::RunInFile& run : in_file_) {
      const auto taken = space_.claim(run.position, run.position + run.length);
      if (!taken) continue;
      overlap = true;
      report({kRule, *taken, object, "values that share bytes with other values",
              "values with bytes of their own"});
    }
    return overlap;
  }

  // Reports values that are missing in a block because they are damaged. Counts the variables whose
  // values are missing for other reasons.
  void check_absent(const LoadedBlock& block, const std::string& object) {
    const Result<std::vector<hdf5::Property>> properties =
        hdf5::decode_properties(block.metadata.extension()->hdf5);
    if (!properties.ok()) return report(properties.status(), object, kNoOffset);
    const bool counts = at_least(VerifyLevel::kBlocks);
    for (const hdf5::Property& property : *properties)
      if (property.number == hdf5::Property::Number::kExternalFiles ||
          property.number == hdf5::Property::Number::kVirtual)
        elsewhere_ += counts;
      else if (property.number == hdf5::Property::Number::kUndecoded && property.filter == 0 &&
               property.owner < block.metadata.variable_count())
        report({"R-XC-1", kNoOffset,
                joined_text(object, ", variable ", block.metadata.variable(property.owner).name),
                joined_text("values that ", hdf5::why_absent(*properties, property.owner)),
                "values that can be decoded"});
      else if (property.number == hdf5::Property::Number::kUndecoded && counts)
        ++undecoded_[hdf5::why_absent(*properties, property.owner)];
  }

  // Checks the chunks, and reads the bytes between the chunked variables, in ascending order.
  void check_values(const LoadedBlock& block, const std::string& object) {
    std::vector<std::pair<std::uint64_t, const Storage*>> chunked;  // by begin
    for (const Storage& storage : block.metadata.extension()->storage)
      if (storage.kind == StorageKind::kChunked)
        chunked.emplace_back(block.metadata.begin(storage.variable), &storage);
    std::ranges::sort(chunked);
    std::uint64_t at = 0;
    for (const auto& [begin, storage] : chunked) {
      read_plain(*block.extent, at, begin, object);
      check_chunks(block, *storage, object);
      at = std::max(at, begin + storage->region_length);
    }
    read_plain(*block.extent, at, block.extent->size(), object);
  }

  void read_plain(const ByteSource& extent, std::uint64_t begin, std::uint64_t end,
                  const std::string& object) {
    std::vector<std::byte> buffer;
    while (begin < end) {
      buffer.resize(std::min(kRead, end - begin));
      if (const Status read = extent.read_at(begin, buffer); !read.ok())
        return report(read, object, position_of(begin));
      begin += buffer.size();
    }
  }

  void check_chunks(const LoadedBlock& block, const Storage& storage,
                    const std::string& block_object) {
    const Variable variable = block.metadata.variable(storage.variable);
    const std::string object = joined_text(block_object, ", variable ", variable.name);
    const auto tell = [&](const ChunkRow& row, const Status& status) {
      report(status, object, position_of(variable.begin + row.offset));
    };
    std::uint64_t left_out = 0;
    const Result<std::uint64_t> unchecked =
        ChunkChecker(options_.threads).check(block, storage, tell, &left_out);
    if (!unchecked.ok()) return report(unchecked.status(), object, kNoOffset);
    chunks_left_out_ += left_out;
    not_decoded_.note(storage, *unchecked);
  }

  // Returns the file position of the byte at `offset` of the extent, or kNoOffset if this byte is
  // not in the file.
  std::uint64_t position_of(std::uint64_t offset) const {
    auto run = std::ranges::upper_bound(in_file_, offset, {}, &hdf5::RunInFile::offset);
    if (run == in_file_.begin()) return kNoOffset;
    --run;
    const std::uint64_t in_run = offset - run->offset;
    return in_run < run->length ? run->position + in_run : kNoOffset;
  }

  // Reports chunks that were not decoded and values that were not read.
  void report_not_read() {
    const auto warn = [&](std::string found, std::string expected) {
      report({kRule, kNoOffset, "", std::move(found), std::move(expected), Severity::kWarning});
    };
    not_decoded_.tell(warn);
    if (chunks_left_out_ > 0)
      warn(joined_text("chunks that were not decoded: ", chunks_left_out_,
                       ", because the chunks of their variables decode to more than the limit"),
           "at most 1 GiB plus 1100 times the stored bytes");
    if (elsewhere_ > 0)
      warn(joined_text("variables whose values are in other files and were not read: ", elsewhere_),
           "values in this file");
    for (const auto& [why, count] : undecoded_)
      warn(joined_text("variables whose values ", why, ": ", count), "an installed filter");
  }

  const VerifierOptions& options_;
  Findings& findings_;
  const std::shared_ptr<const MeteredSource> source_;
  VerifySummary summary_;
  SpaceMap space_;                        // bytes of the values found so far
  bool damaged_ = false;                  // whether the current group is damaged
  bool missed_ = false;                   // whether a part of the current group was not checked
  std::vector<hdf5::RunInFile> in_file_;  // file positions of the current group's values
  NotDecoded not_decoded_;
  std::uint64_t chunks_left_out_ = 0;
  std::uint64_t elsewhere_ = 0;  // number of variables with values in other files
  std::map<std::string, std::uint64_t> undecoded_;  // number of variables, by hdf5::why_absent()
};

}  // namespace

Result<VerifySummary> verify_hdf5(const ByteSource& file, const VerifierOptions& options,
                                  Findings& findings) {
  return Hdf5Verifier(file, options, findings).run();
}

}  // namespace nmb

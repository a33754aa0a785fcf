// Checks which options of pack() can be combined (see nmb/merge.h).
#include <string>

#include "model/name_rules.h"
#include "nmb/merge.h"

namespace nmb {

namespace {

std::string kind_word(const PackOptions& options) {
  if (options.hdf5) return options.hdf5->plain ? "hdf5" : "nc4";
  if (!options.classic) return "nmb";
  return *options.classic == Kind::kCdf1   ? "cdf1"
         : *options.classic == Kind::kCdf2 ? "cdf2"
                                           : "cdf5";
}

}  // namespace

Status check_options(const PackOptions& options, const PackOptionNames& names) {
  constexpr const char* kModes[] = {"pack", "union", "join", "tiles"};
  const char* const mode = kModes[static_cast<int>(options.mode)];
  const bool packs = options.mode == MergeMode::kPack;
  const bool is_nmb = !options.classic && !options.hdf5;
  const bool divides = options.block_by.by != BlockRule::By::kGroup;
  const bool resumes = !options.resume.empty();
  const bool counts = options.writer.statistics != StatisticsLevel::kNone;
  const bool dry_run = options.writer.dry_run;
  const bool has_view = options.writer.hdf5_view == Hdf5View::kOn;
  const auto needs_kind = [&](const std::string& option, const char* kinds) {
    return Status(Code::kUsage, option + " needs an output of kind " + kinds + "; " + names.output +
                                    " is " + kind_word(options));
  };
  const auto needs_pack = [&](const std::string& option) {
    return Status(Code::kUsage, option + " needs " + names.mode + " pack; the mode is " + mode);
  };
  const auto exclude = [](const std::string& option, const std::string& other) {
    return option + " and " + other + " exclude each other";
  };
  // Returns the name of the option that sets the compression.
  const auto compression = [&] {
    const Compression& wanted = *options.compression;
    return wanted.codec            ? names.compression
           : !wanted.chunk.empty() ? names.chunk
           : wanted.shuffle        ? names.shuffle
                                   : names.compression;
  };
  const auto usage = [](const std::string& text) { return Status(Code::kUsage, text); };
  if (options.inputs.empty()) return usage("no inputs; name " + names.inputs);
  if (options.samples.variables == 0)
    return usage("found 0 variables per sample, expected 1 or more");
  if (!options.key.empty() && options.mode != MergeMode::kJoin)
    return usage(names.key + " needs " + names.mode + " join");
  if (options.classic && packs)
    return needs_kind(names.mode + " " + mode, "nc4, hdf5 or nmb, which can hold groups");
  if (options.classic && options.compression)
    return usage(needs_kind(compression(), "nc4, hdf5 or nmb, which can hold chunks").message() +
                 "; the ending .nc4 means nc4");
  if (dry_run && counts)
    return usage(exclude(names.dry_run, names.statistics) +
                 ": the length of the statistics depends on the values");
  if (counts && !is_nmb) return needs_kind(names.statistics, "nmb");
  if (has_view && !is_nmb) return needs_kind(names.hdf5_view + " on", "nmb");
  if (!options.tags.empty() && !is_nmb) return needs_kind(names.tags, "nmb");
  if (!options.tag_names.empty() && options.tags.empty())
    return usage(names.tag_names + " needs " + names.tags);
  if (resumes && dry_run) return usage(exclude(names.resume, names.dry_run));
  if (options.replace && !options.append) return usage(names.replace + " needs " + names.append);
  if (!options.along.starts_with('/') && options.along.find('/') != std::string::npos)
    return usage("found dimension " + in_quotes(options.along) +
                 "; a path begins with /: " + in_quotes("/" + options.along));
  if (options.append) {
    if (!is_nmb) return needs_kind(names.append, "nmb");
    if (!packs) return needs_pack(names.append);
    if (resumes) return usage(exclude(names.append, names.resume));
  }
  if (options.choice) {
    const BlockChoice& choice = *options.choice;
    if (!packs) return needs_pack(names.choice);
    if (divides) return usage(exclude(names.choice, names.block_by));
    if (choice.shard == 0 || choice.shard > choice.shards)
      return usage("found shard " + std::to_string(choice.shard) + " of " +
                   std::to_string(choice.shards) + ", expected a number from 1 to " +
                   std::to_string(choice.shards));
  }
  if (options.link) {
    if (!is_nmb) return needs_kind(names.link, "nmb");
    if (!packs) return needs_pack(names.link);
    if (divides) return usage(exclude(names.link, names.block_by));
    if (options.compression) return usage(exclude(names.link, compression()));
    if (has_view)
      return usage(exclude(names.link, names.hdf5_view + " on") +
                   ": a view cannot show values in other files");
    if (options.external == ExternalPaths::kNone)
      return usage(names.link + " needs " + names.external + " beneath or any");
  }
  return {};
}

}  // namespace nmb

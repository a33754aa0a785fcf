// Checks which options of pack() can be combined (see merge/reporting/merge.h).
#include <cstdint>
#include <string>

#include "merge/reporting/merge.h"
#include "model/name_rules.h"

namespace nmb {

namespace {

Status usage(const std::string& text) { return Status(Code::kUsage, text); }

Status exclude(const std::string& option, const std::string& other, const std::string& why = "") {
  return usage(option + " and " + other + " exclude each other" + why);
}

std::string kind_word(const PackOptions& options) {
  if (options.hdf5) return options.hdf5->plain ? "hdf5" : "nc4";
  if (!options.classic) return "nmb";
  return *options.classic == Kind::kCdf1   ? "cdf1"
         : *options.classic == Kind::kCdf2 ? "cdf2"
                                           : "cdf5";
}

// Returns the name of the option that sets the compression.
std::string compression_of(const PackOptions& options) {
  const Compression& wanted = *options.compression;
  if (!wanted.codec && !wanted.chunk.empty()) return "Storing::chunk";
  return !wanted.codec && wanted.shuffle ? "Storing::shuffle" : "MergeOptions::storing";
}

// Returns the name of an option that chooses blocks.
std::string choice_of(const BlockChoice& choice) {
  return choice.names      ? "BlockChoice::names"
         : choice.excludes ? "BlockChoice::excludes"
         : choice.where    ? "BlockChoice::where"
                           : "BlockChoice::shard";
}

Status check_shard(const BlockShard& shard) {
  const std::string all = std::to_string(shard.count);
  if (shard.first == 0 || shard.first > shard.count)
    return usage("found shard " + std::to_string(shard.first) + " of " + all +
                 ", expected a number from 1 to " + all);
  const std::uint64_t most = shard.count - shard.first + 1;
  if (shard.width > 0 && shard.width <= most) return {};
  return usage("found " + std::to_string(shard.width) + " of " + all + " shards from number " +
               std::to_string(shard.first) + ", expected from 1 to " + std::to_string(most));
}

Status check_choice(const BlockChoice& choice, const PackOptions& options) {
  const std::string option = choice_of(choice);
  if (!options.unites() && options.block_by.by != BlockRule::By::kGroup)
    return exclude(option, "MergeOptions::block_by");
  if (options.unites() && options.inputs.size() > 1 && options.input_blocks.empty())
    return usage(option +
                 " needs a single input in modes other than pack, because the blocks of this "
                 "input are merged; merge the inputs with MergeOptions::mode pack first");
  return check_shard(choice.shard);
}

Status check_pack(const Pack& pack, const PackOptions& options) {
  const bool divides = options.block_by.by != BlockRule::By::kGroup;
  if (pack.replace && !pack.append) return usage("Pack::replace needs Pack::append");
  if (pack.append && options.writer.overwrite)
    return exclude("Pack::append", "MergeOptions::replace");
  if (pack.append && !options.resume.empty())
    return exclude("Pack::append", "MergeOptions::resume");
  if (!pack.link) return {};
  if (divides) return exclude("Pack::link", "MergeOptions::block_by");
  if (options.compression) return exclude("Pack::link", compression_of(options));
  if (options.writer.hdf5_view == Hdf5View::kOn)
    return exclude("Pack::link", "Hdf5View::kOn", ": a view cannot show values in other files");
  return options.external == ExternalPaths::kNone
             ? usage("Pack::link needs MergeOptions::external beneath or any")
             : Status();
}

Status check_join(const Join& join) {
  if (join.along.starts_with('/') || join.along.find('/') == std::string::npos) return {};
  return usage("found dimension " + in_quotes(join.along) +
               "; a path begins with /: " + in_quotes("/" + join.along));
}

Status check_subset(const PackOptions& options) {
  const std::string subset = "PackOptions::subset";
  if (options.has_tiles()) return exclude(subset, "MergeOptions::mode tiles");
  if (options.block_by.by != BlockRule::By::kGroup)
    return exclude(subset, "MergeOptions::block_by");
  if (!options.tags.empty()) return exclude(subset, "MergeOptions::tags");
  const Pack& pack = options.pack();
  if (pack.append) return exclude(subset, "Pack::append");
  if (pack.link) return exclude(subset, "Pack::link");
  if (pack.choice) return exclude(subset, choice_of(*pack.choice));
  return {};
}

// Checks that the kind of the output supports the options.
Status check_kind(const PackOptions& options) {
  const auto needs = [&](const std::string& option, const std::string& kinds) {
    return usage(option + " needs an output of kind " + kinds + "; MergeOptions::to is " +
                 kind_word(options));
  };
  const Pack* const pack = std::get_if<Pack>(&options.mode);
  if (options.classic && pack && !options.subset)
    return needs("MergeOptions::mode pack", "nc4, hdf5 or nmb, which can hold groups");
  if (options.classic && options.compression)
    return usage(
        needs(compression_of(options), "nc4, hdf5 or nmb, which can hold chunks").message() +
        "; the ending .nc4 means nc4");
  if (!options.classic && !options.hdf5) return {};
  if (options.writer.statistics != StatisticsLevel::kNone)
    return needs("MergeOptions::statistics", "nmb");
  if (options.writer.hdf5_view == Hdf5View::kOn) return needs("Hdf5View::kOn", "nmb");
  if (!options.tags.empty()) return needs("MergeOptions::tags", "nmb");
  if (pack && pack->append) return needs("Pack::append", "nmb");
  return pack && pack->link ? needs("Pack::link", "nmb") : Status();
}

}  // namespace

Status check_options(const PackOptions& options) {
  if (options.inputs.empty()) return usage("no inputs; name PackOptions::inputs");
  if (options.samples.variables == 0)
    return usage("found 0 variables per sample, expected 1 or more");
  if (options.classic && options.hdf5) return exclude("PackOptions::classic", "FileKind::kHdf5");
  NMB_TRY(check_kind(options));
  if (options.writer.dry_run && options.writer.statistics != StatisticsLevel::kNone)
    return exclude("MergeOptions::dry_run", "MergeOptions::statistics",
                   ": the length of the statistics depends on the values");
  if (!options.tag_names.empty() && options.tags.empty())
    return usage("MergeOptions::tag_names needs MergeOptions::tags");
  if (!options.resume.empty() && options.writer.dry_run)
    return exclude("MergeOptions::resume", "MergeOptions::dry_run");
  if (options.subset) NMB_TRY(check_subset(options));
  if (options.choice()) NMB_TRY(check_choice(*options.choice(), options));
  if (const auto* const join = std::get_if<Join>(&options.mode)) return check_join(*join);
  const auto* const pack = std::get_if<Pack>(&options.mode);
  return pack ? check_pack(*pack, options) : Status();
}

}  // namespace nmb

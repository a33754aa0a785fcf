// Checks which options of pack() can be combined (see merge/reporting/merge.h).
#include <cstdint>
#include <string>

#include "merge/reporting/merge.h"
#include "model/name_rules.h"
#include "wire/enumerators.h"

namespace nmb {

namespace {

Status usage(const std::string& text) { return Status(Code::kUsage, text); }

Status exclude(const std::string& option, const std::string& other, const std::string& why = "") {
  return usage(option + " and " + other + " exclude each other" + why);
}

std::string kind_word(const PackOptions& options) {
  if (options.hdf5)
    return options.hdf5->plain ? "FileKind::kHdf5 with MergeOptions::netcdf = false"
                               : "FileKind::kHdf5";
  if (!options.classic) return "FileKind::kNmb";
  return *options.classic == Kind::kCdf1   ? "FileKind::kCdf1"
         : *options.classic == Kind::kCdf2 ? "FileKind::kCdf2"
                                           : "FileKind::kCdf5";
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
         : choice.shard    ? "BlockChoice::shard"
                           : "BlockChoice";
}

Status out_of_range(const std::string& field, std::uint64_t found, std::uint64_t most,
                    const std::string& why = "") {
  return usage(field + " is " + std::to_string(found) + ", expected " +
               (most == 1 ? "1" : "a number from 1 to " + std::to_string(most)) + why);
}

Status check_shard(const BlockShard& shard) {
  if (shard.count == 0) return usage("BlockShard::count is 0, expected 1 or more");
  if (shard.first == 0 || shard.first > shard.count)
    return out_of_range("BlockShard::first", shard.first, shard.count,
                        ", which is BlockShard::count");
  const std::uint64_t most = shard.count - shard.first + 1;
  if (shard.width > 0 && shard.width <= most) return {};
  return out_of_range("BlockShard::width", shard.width, most,
                      " for shards from number " + std::to_string(shard.first) + " of " +
                          std::to_string(shard.count));
}

Status check_choice(const BlockChoice& choice, const PackOptions& options) {
  const std::string option = choice_of(choice);
  if (!options.unites() && options.block_by.by != BlockRule::By::kGroup)
    return exclude(option, "MergeOptions::block_by");
  if (options.unites() && options.inputs.size() > 1 && options.input_blocks.empty())
    return usage(option +
                 " needs a single input in modes other than pack, because the blocks of this "
                 "input are merged; merge the inputs with MergeOptions::mode pack first");
  return choice.shard ? check_shard(*choice.shard) : Status();
}

Status check_enumerators(const PackOptions& options) {
  NMB_TRY(check_enumerator(options.block_by.by, BlockRule::By::kAttribute, "BlockRule::By"));
  NMB_TRY(check_enumerator(options.samples.by, SampleRule::By::kNone, "SampleRule::By"));
  for (const TagRule& rule : options.tags)
    NMB_TRY(check_enumerator(rule.from, TagRule::From::kAttribute, "TagRule::From"));
  NMB_TRY(check_enumerator(options.on_mismatch(), Mismatch::kWiden, "Mismatch"));
  NMB_TRY(check_enumerator(options.pack().digests, RecordedDigests::kSha256, "RecordedDigests"));
  NMB_TRY(check_enumerator(options.external, ExternalPaths::kAny, "ExternalPaths"));
  NMB_TRY(check_enumerator(options.writer.hdf5_view, Hdf5View::kOn, "Hdf5View"));
  return check_enumerator(options.writer.statistics, StatisticsLevel::kParts, "StatisticsLevel");
}

Status check_block_rule(const BlockRule& rule) {
  using By = BlockRule::By;
  const bool has_name =
      rule.by == By::kPrefix || rule.by == By::kDimension || rule.by == By::kAttribute;
  if (has_name && rule.name.empty()) return usage("BlockRule::name is empty, expected a name");
  if (!has_name && !rule.name.empty())
    return usage(
        "BlockRule::name needs BlockRule::By::kPrefix, BlockRule::By::kDimension or "
        "BlockRule::By::kAttribute");
  if (rule.count == 0) return usage("BlockRule::count is 0, expected 1 or more");
  if (rule.count != 1 && rule.by != By::kCount)
    return usage("BlockRule::count needs BlockRule::By::kCount");
  return rule.keep_unmatched && rule.by != By::kPrefix
             ? usage("BlockRule::keep_unmatched needs BlockRule::By::kPrefix")
             : Status();
}

Status check_sample_rule(const SampleRule& rule) {
  using By = SampleRule::By;
  if (rule.variables == 0) return usage("SampleRule::variables is 0, expected 1 or more");
  if (rule.variables != 1 && rule.by != By::kVariables)
    return usage("SampleRule::variables needs SampleRule::By::kVariables");
  if (rule.by == By::kDimension && rule.dimension.empty())
    return usage("SampleRule::dimension is empty, expected a name");
  return rule.by != By::kDimension && !rule.dimension.empty()
             ? usage("SampleRule::dimension needs SampleRule::By::kDimension")
             : Status();
}

// Refuses options with which no file is stored whole. option: the name of an option that needs
// whole files.
Status check_whole_files(const std::string& option, const PackOptions& options) {
  if (options.unites()) return usage(option + " needs MergeOptions::mode pack");
  if (options.classic || options.hdf5)
    return usage(option + " needs an output of kind FileKind::kNmb; MergeOptions::to is " +
                 kind_word(options));
  const std::string why = ": inputs are not stored whole then";
  if (options.subset) return exclude(option, "PackOptions::subset", why);
  if (options.block_by.by != BlockRule::By::kGroup)
    return exclude(option, "MergeOptions::block_by", why);
  if (options.compression) return exclude(option, compression_of(options), why);
  return options.pack().link ? exclude(option, "Pack::link", why) : Status();
}

Status check_pack(const Pack& pack, const PackOptions& options) {
  const bool divides = options.block_by.by != BlockRule::By::kGroup;
  if (pack.replace && !pack.append) return usage("Pack::replace needs Pack::append");
  if (pack.append && options.writer.overwrite)
    return exclude("Pack::append", "MergeOptions::replace");
  if (pack.append && !options.resume.empty())
    return exclude("Pack::append", "MergeOptions::resume");
  if (pack.digests != RecordedDigests::kNone) {
    NMB_TRY(check_whole_files("Pack::digests", options));
    if (options.originals != Originals::kStore && options.originals != Originals::kStoreIfPossible)
      return usage(
          "Pack::digests needs MergeOptions::originals: the digests are those of files that are "
          "stored whole");
  }
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
    return needs("MergeOptions::mode pack",
                 "FileKind::kHdf5 or FileKind::kNmb, which can hold groups");
  if (options.classic && options.compression)
    return needs(compression_of(options),
                 "FileKind::kHdf5 or FileKind::kNmb, which can hold chunks");
  if (!options.classic && !options.hdf5) return {};
  const std::string nmb = "FileKind::kNmb";
  if (options.writer.statistics != StatisticsLevel::kNone)
    return needs("MergeOptions::statistics", nmb);
  if (options.writer.hdf5_view == Hdf5View::kOn) return needs("Hdf5View::kOn", nmb);
  if (options.samples.by != SampleRule::By::kDefault) return needs("MergeOptions::samples", nmb);
  if (!options.tags.empty()) return needs("MergeOptions::tags", nmb);
  if (pack && pack->append) return needs("Pack::append", nmb);
  return pack && pack->link ? needs("Pack::link", nmb) : Status();
}

}  // namespace

Status check_options(const PackOptions& options) {
  if (options.inputs.empty()) return usage("no inputs; name PackOptions::inputs");
  NMB_TRY(check_enumerators(options));
  NMB_TRY(check_block_rule(options.block_by));
  NMB_TRY(check_sample_rule(options.samples));
  if (options.compression && options.compression->codec == PieceCodec::kNone &&
      options.compression->shuffle)
    return exclude("Storing::shuffle", "Storing::codec \"none\"",
                   ": shuffle has no effect without a codec");
  if (options.classic && options.hdf5) return exclude("PackOptions::classic", "FileKind::kHdf5");
  NMB_TRY(check_kind(options));
  if (options.writer.dry_run && options.writer.statistics != StatisticsLevel::kNone)
    return exclude("MergeOptions::dry_run", "MergeOptions::statistics",
                   ": the length of the statistics depends on the values");
  if (options.writer.dry_run && options.check)
    return exclude("MergeOptions::dry_run", "MergeOptions::check", ": a dry run writes nothing");
  if (options.originals == Originals::kStore)
    NMB_TRY(check_whole_files("MergeOptions::originals", options));
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

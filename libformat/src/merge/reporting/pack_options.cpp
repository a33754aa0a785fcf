// Which options of pack() go together (see nmb/merge.h).
#include <initializer_list>
#include <string>

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
  const std::string mode = kModes[static_cast<int>(options.mode)];
  const bool packs = options.mode == MergeMode::kPack;
  const bool is_nmb = !options.classic && !options.hdf5;
  const bool divides = options.block_by.by != BlockRule::By::kGroup;
  const bool resumes = !options.resume.empty();
  const bool counts = options.writer.statistics != StatisticsLevel::kNone;
  const bool dry_run = options.writer.dry_run;
  const auto needs_kind = [&](const std::string& option, const char* kinds) {
    return option + " needs an output of kind " + kinds + "; " + names.output + " is " +
           kind_word(options);
  };
  const auto needs_pack = [&](const std::string& option) {
    return option + " needs " + names.mode + " pack; the mode is " + mode;
  };
  const auto exclude = [](const std::string& option, const std::string& other) {
    return option + " and " + other + " exclude each other";
  };
  struct Rule {
    bool is_broken;
    std::string text;
  };
  for (const Rule& rule : std::initializer_list<Rule>{
           {options.inputs.empty(), "no inputs; name " + names.inputs},
           {options.samples.variables == 0, "found samples of 0 variables, expected 1 or more"},
           {!options.key.empty() && options.mode != MergeMode::kJoin,
            names.key + " needs " + names.mode + " join"},
           {options.classic && packs,
            needs_kind(names.mode + " " + mode, "nc4, hdf5 or nmb, which have groups")},
           {options.classic && options.compression,
            needs_kind(names.compression, "nmb, nc4 or hdf5")},
           {dry_run && !is_nmb, needs_kind(names.dry_run, "nmb")},
           {dry_run && counts, exclude(names.dry_run, names.statistics) +
                                   ": the length of statistics depends on values"},
           {counts && !is_nmb, needs_kind(names.statistics, "nmb")},
           {options.writer.hdf5_view == Hdf5View::kOn && !is_nmb,
            needs_kind(names.hdf5_view + " on", "nmb")},
           {resumes && !is_nmb, needs_kind(names.resume, "nmb")},
           {resumes && dry_run, exclude(names.resume, names.dry_run)},
           {options.append && !is_nmb, needs_kind(names.append, "nmb")},
           {options.append && !packs, needs_pack(names.append)},
           {options.append && dry_run, exclude(names.append, names.dry_run)},
           {options.append && resumes, exclude(names.append, names.resume)},
           {options.link && !is_nmb, needs_kind(names.link, "nmb")},
           {options.link && !packs, needs_pack(names.link)},
           {options.link && divides, exclude(names.link, names.block_by)},
           {options.link && options.compression, exclude(names.link, names.compression)},
           {options.link && options.writer.hdf5_view == Hdf5View::kOn,
            exclude(names.link, names.hdf5_view + " on") +
                ": a view cannot show values in other files"},
           {options.link && options.external == ExternalPaths::kNone,
            names.link + " needs " + names.external + " beneath or any"},
       })
    if (rule.is_broken) return Status(Code::kUsage, rule.text);
  return {};
}

}  // namespace nmb

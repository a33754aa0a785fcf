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
  const std::string mode = names.mode + " " + kModes[static_cast<int>(options.mode)];
  const std::string kind = names.kind + " " + kind_word(options);
  const std::string one = "one of them";
  const bool packs = options.mode == MergeMode::kPack;
  const bool is_nmb = !options.classic && !options.hdf5;
  const bool divides = options.block_by.by != BlockRule::By::kGroup;
  const bool resumes = !options.resume.empty();
  const bool counts = options.writer.statistics != StatisticsLevel::kNone;
  const bool dry_run = options.writer.dry_run;
  if (options.inputs.empty())
    return Status(Code::kUsage, "found no inputs, expected " + names.inputs);
  if (options.samples.variables == 0)
    return Status(Code::kUsage, "found samples of 0 variables, expected 1 or more");
  if (!options.key.empty() && options.mode != MergeMode::kJoin)
    return Status(Code::kUsage,
                  "found " + names.key + ", expected " + names.mode + " join with it");
  struct Rule {
    bool is_broken;
    std::string option, with, expected;
  };
  for (const Rule& rule : std::initializer_list<Rule>{
           {options.classic && packs, mode, kind, "nc4, hdf5 or nmb, which have groups"},
           {options.classic && options.compression, names.compression, kind, "nmb, nc4 or hdf5"},
           {dry_run && !is_nmb, names.dry_run, kind, "nmb"},
           {dry_run && counts, names.dry_run,
            names.statistics +
                (options.writer.statistics == StatisticsLevel::kBasic ? " basic" : " histogram"),
            one + ": the length of statistics depends on values"},
           {resumes && !is_nmb, names.resume, kind, "nmb"},
           {resumes && dry_run, names.resume, names.dry_run, one},
           {options.append && !is_nmb, names.append, kind, "nmb"},
           {options.append && !packs, names.append, mode, "pack"},
           {options.append && dry_run, names.append, names.dry_run, one},
           {options.append && resumes, names.append, names.resume, one},
           {options.link && !is_nmb, names.link, kind, "nmb"},
           {options.link && !packs, names.link, mode, "pack"},
           {options.link && divides, names.link, names.block_by, one},
           {options.link && options.compression, names.link, names.compression, one},
           {options.link && options.writer.hdf5_view == Hdf5View::kOn, names.link,
            names.hdf5_view + " on", one + ": a view cannot show values in other files"},
           {options.link && options.external == ExternalPaths::kNone, names.link,
            names.external + " none", "beneath or any"},
       })
    if (rule.is_broken)
      return Status(Code::kUsage,
                    "found " + rule.option + " with " + rule.with + ", expected " + rule.expected);
  return {};
}

}  // namespace nmb

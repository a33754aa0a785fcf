// pack: merges per-process files into one NMB file, each input a block, or, with split_names, one
// block for each group that variables' names carry.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "nmb/communicator.h"
#include "nmb/status.h"
#include "nmb/totals.h"
#include "nmb/writer.h"

namespace nmb {

struct PackOptions {
  std::vector<std::string> inputs;  // paths: classic files and NMB files, mixed
  std::string output;
  // {stem} {path} {index} {group}; empty: {stem} for classic files, {stem}/{group} for those with
  // groups.
  std::string block_name;
  bool unique_groups = false;  // the same inner name in two inputs is a conflict
  // Regular expression (PCRE2) with one capture, the group; what follows the match is the
  // variable's new name. Empty: none.
  std::string split_names;
  bool strict = false;          // a warning is a conflict
  bool keep_unmatched = false;  // variables that do not match stay, in the parent block
  // "", "vars:N", "dim:NAME", "group", "none". "": 1 for a block with variables; blocks of NMB
  // files keep theirs.
  std::string samples;
  WriterOptions writer;
  bool check = false;  // verify the result, values too, before it gets its name
  // Called now and then from one thread, with bytes of values moved.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

// Inputs that cannot go together.
struct PackConflict {
  std::string kind;    // "block name", "group", "variable name", "unmatched variable", "samples",
                       // "attributes"
  std::string object;  // the name they disagree about
  std::string first_file, second_file;  // second: empty where one file suffices
  std::string found, expected;
};

struct PackReport {
  std::vector<PackConflict> conflicts;  // all of them; if there is one nothing is published
  std::vector<Status> unreadable;       // inputs that cannot be used
  std::vector<std::string> warnings;
  std::uint64_t inputs = 0;
  std::uint64_t bytes_in = 0;     // of all inputs
  std::uint64_t value_bytes = 0;  // moved
  std::uint64_t bytes_out = 0;
  Totals totals;
};

// Publishes options.output, or leaves what was there untouched. kConflict: report->conflicts says
// which; the worst of report->unreadable; kUsage: options; kExists; kIo; kNoSpace.
NMB_EXPORT Status pack(const PackOptions& options, PackReport* report);
// The same by all ranks of `ranks`, which read runs of the inputs with about as many bytes each;
// the options are the same on all, and so are the outcome and the file, whatever their number. What
// is reported is in rank 0's report. progress: of this rank's share.
NMB_EXPORT Status pack(const PackOptions& options, PackReport* report, Communicator& ranks);

}  // namespace nmb

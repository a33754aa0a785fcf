// Compares the arguments of collective calls. Each function fields() names all members of its
// struct, so a new option does not compile until it is added here. Callbacks, pointers and the
// number of threads may differ between ranks, so they are not compared.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nmb/convert.h"
#include "nmb/merge.h"
#include "nmb/options.h"
#include "nmb/verify.h"
#include "parallel/communicator.h"
#include "parallel/message_fields.h"
#include "wire/hash.h"

namespace nmb {

template <class Fields>
void fields(Fields& all, BlockRule& rule) {
  auto& [by, name, count, keep_unmatched] = rule;
  all(by, name, count, keep_unmatched);
}

template <class Fields>
void fields(Fields& all, SampleRule& rule) {
  auto& [by, variables, dimension] = rule;
  all(by, variables, dimension);
}

template <class Fields>
void fields(Fields& all, TagRule& rule) {
  auto& [name, from, value] = rule;
  all(name, from, value);
}

template <class Fields>
void fields(Fields& all, BlockShard& shard) {
  auto& [first, count, width, seed] = shard;
  all(first, count, width, seed);
}

template <class Fields>
void fields(Fields& all, BlockChoice& choice) {
  auto& [names, excludes, where, shard] = choice;
  all(names, where, shard);
}

template <class Fields>
void fields(Fields& all, Pack& pack) {
  auto& [append, replace, link, digests, choice] = pack;
  all(append, replace, link, digests, choice);
}

template <class Fields>
void fields(Fields& all, Agreement& agreement) {
  auto& [strict_attributes, first_values] = agreement;
  all(strict_attributes, first_values);
}

template <class Fields>
void fields(Fields& all, Union& rules) {
  auto& [agreement, on_mismatch, choice] = rules;
  all(agreement, on_mismatch, choice);
}

template <class Fields>
void fields(Fields& all, Join& rules) {
  auto& [along, key, history, drop_tracking_id, agreement, on_mismatch, fill_missing, monotonic,
         rebase_times, choice] = rules;
  all(along, key, history, drop_tracking_id, agreement, on_mismatch, fill_missing, monotonic,
      rebase_times, choice);
}

template <class Fields>
void fields(Fields& all, Tiles& rules) {
  auto& [agreement, skip_mismatches, fill_missing, choice] = rules;
  all(agreement, skip_mismatches, fill_missing, choice);
}

template <class Fields>
void fields(Fields& all, Storing& storing) {
  auto& [codec, shuffle, chunk] = storing;
  all(codec, shuffle, chunk);
}

template <class Fields>
void fields(Fields& all, MergeOptions& options) {
  auto& [mode, to, netcdf, block_name, block_by, samples, tags, tag_names, sort_by, storing,
         hdf5_view, statistics, originals, replace, sync, dry_run, check, strict, external, resume,
         threads, ranks, progress, cancel] = options;
  all(mode, to, netcdf, block_name, block_by, samples, tags, tag_names, sort_by, storing, hdf5_view,
      statistics, originals, replace, sync, dry_run, check, strict, external, resume);
}

template <class Fields>
void fields(Fields& all, ConvertOptions& options) {
  auto& [to, netcdf, block, lossy, storing, hdf5_view, statistics, originals, replace, sync, check,
         strict, external, threads, ranks, progress, cancel] = options;
  all(to, netcdf, block, lossy, storing, hdf5_view, statistics, originals, replace, sync, check,
      strict, external);
}

template <class Fields>
void fields(Fields& all, VerifyOptions& options) {
  auto& [level, originals, since, external, threads, ranks, progress] = options;
  all(level, originals, since, external);
}

// Fails with kUsage on all ranks if they make different calls, or the same call with other
// arguments. Collective. call: the name of the call, for messages.
template <class Options>
Status agree_on_arguments(Communicator& ranks, std::string_view call, const Options& options,
                          const std::vector<std::string>& files) {
  if (ranks.size() == 1) return {};
  FieldsOut arguments;
  arguments(files, options);
  return ranks.agree({}, call, 0, sum_of(arguments.take()));
}

}  // namespace nmb

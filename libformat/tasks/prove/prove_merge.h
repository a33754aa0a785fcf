// prove_merge: checks that a merged file has the content of its inputs (docs/design/proof.md).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compare/compare.h"
#include "merge/reporting/merge.h"
#include "wire/failure.h"
#include "wire/kinds.h"

namespace nmb {

// An open input.
struct ProofInput {
  ContentFile content;
  bool has_groups = false;  // whether it is an NMB or HDF5 file
  // Bytes of its metadata and copied values, if all of them were read when it was opened.
  std::optional<std::uint64_t> memory{};
  std::shared_ptr<const void> holder{};  // keeps the file open
};

struct MergeProof {
  // The mode, rules and inputs of the merge. `output` and options of storage have no effect. Blocks
  // must not be divided or chosen.
  PackOptions merge;
  // The kind of the merged file if it is a classic file.
  std::optional<Kind> classic{};
  bool is_hdf5 = false;  // whether the merged file is an HDF5 or netCDF-4 file
  ComparisonOptions comparison{};
  std::function<Result<ProofInput>(const std::string& path)> open;
};

// An input that was compared.
struct ProvedInput {
  std::string name;
  std::vector<std::string> blocks;          // blocks of the merged file that have values of it
  std::vector<ComparedVariable> different;  // variables with values that differ
  // Whether the merged file lacks a block or the place for its values.
  bool is_unplaced = false;
  Status status;  // why it was not compared completely
};

struct ProofVisitor {
  // A definition of the merged file differs. The first one is that of the inputs.
  std::function<Status(const DefinitionDifference&)> definition;
  // Elements that no input has are not fill values.
  std::function<Status(const ComparedVariable&)> filled;
  // Called for each input, also without differences, in the order of the merge.
  std::function<Status(const ProvedInput&)> input;
};

// Compares the definitions of the merged file with those that the merge would give it, and the
// values of each input with the merged values at the place where they belong. Returns whether all
// are the same. Sets *report as pack() does for a dry run. Errors: those of a dry run of pack(),
// for example kConflict; kUnsupported for Join::key and if blocks are divided or chosen; those of
// reading the merged file.
NMB_EXPORT Result<bool> prove_merge(const ContentFile& merged, const MergeProof& proof,
                                    const ProofVisitor& visitor, PackReport* report);

}  // namespace nmb

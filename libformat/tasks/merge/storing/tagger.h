// Tagger: computes the tags that PackOptions::tags gives to blocks of the output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "merge/dividing/block_template.h"
#include "merge/dividing/name_splitter.h"
#include "merge/reading/merge_sink.h"
#include "merge/reporting/merge_step.h"
#include "model/metadata.h"
#include "nmb/statistics.h"
#include "wire/failure.h"

namespace nmb {

// Returns the tag for a text that a template made: int64 or uint64 for a decimal integer in their
// range, double for another decimal number in its range, and text for everything else.
TagValue tag_of_text(std::string text);

// Not thread-safe.
class Tagger : public MergeStep {
 public:
  // Errors: kUsage if a template or the expression is invalid, if a template uses a capture that
  // does not exist, or if two rules have one name.
  static Result<Tagger> make(const MergeStep& step);

  // The parts of a block from which rules make tags.
  struct TagSource {
    const OutputName& name;
    std::size_t input;                                   // position in PackOptions::inputs
    const Metadata& metadata;                            // of the block
    const Metadata* divided = nullptr;                   // InputPart::divided
    const std::vector<NameCapture>* captures = nullptr;  // InputPart::captures
  };
  bool has_rules() const { return !options_.tags.empty(); }
  // Returns the tags of a block. Adds a conflict for each tag that cannot be made.
  Result<std::vector<Tag>> tags_of(const TagSource& block);

  // For each of PackOptions::tags: the number of blocks that got the tag, and the number of blocks
  // that did not get it, because they lack an attribute or their names do not match.
  struct Count {
    std::uint64_t with = 0, without = 0;
  };
  const std::vector<Count>& counts() const { return counts_; }

 private:
  explicit Tagger(const MergeStep& step) : MergeStep(step), counts_(options_.tags.size()) {}

  Status check(const TagRule& rule, const BlockTemplate& value) const;
  Result<std::optional<TagValue>> value_of(std::size_t rule, const TagSource& block);
  Result<std::optional<TagValue>> expanded(std::size_t rule, const TagSource& block);
  std::optional<TagValue> attribute(const TagRule& rule, const TagSource& block);
  void refuse(const TagRule& rule, const TagSource& block, std::string found, std::string expected);
  void lack(std::size_t rule, const TagSource& block);

  std::vector<std::optional<BlockTemplate>> templates_;  // for each rule that has one
  std::optional<NameSplitter> names_;                    // PackOptions::tag_names
  std::size_t captures_ = 0;                             // number of captures that rules may use
  std::vector<Count> counts_;
};

}  // namespace nmb

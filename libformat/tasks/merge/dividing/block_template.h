// BlockTemplate: forms block names from a template with the fields {stem}, {path}, {index} and
// {group}. BlockNames: the names of the blocks that pack() makes of its inputs
// (merge/reporting/merge.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/path_move.h"
#include "wire/failure.h"

namespace nmb {

class NMB_EXPORT BlockTemplate {
 public:
  // Errors: kUsage if a field is unknown or not closed.
  static Result<BlockTemplate> parse(std::string_view text);
  // Parses a template for values of tags, which may also have the fields {1}, {2} and so on. These
  // fields are captures of a regular expression. Errors: as for parse().
  static Result<BlockTemplate> parse_tag(std::string_view text);
  bool has_group() const { return has(Field::kGroup); }
  // Returns whether the block names contain a part of the input's file name.
  bool has_input_name() const { return has(Field::kStem) || has(Field::kPath); }
  // Returns whether the result depends on the input from which the block comes.
  bool has_input() const { return has_input_name() || has(Field::kIndex); }
  // Returns the numbers of the captures that the template uses, for example 2 for {2}.
  std::vector<std::size_t> captures() const;
  // Returns the block name for a group of an input. `path` is the input's path, and `index` is its
  // position in the list of inputs. If `group` is empty, there is no group, and the '/' before
  // {group} is dropped. captures: the texts of {1}, {2} and so on; must include all that captures()
  // returns. Errors: kUsage if {path} would insert a path with "..".
  Result<std::string> expand(std::string_view path, std::size_t index, std::string_view group,
                             std::span<const std::string_view> captures = {}) const;
  // Returns the name of the block below which all groups have the same paths as in the input.
  // Returns nullopt if there is no such block, because the template does not end in "/{group}".
  // Errors: kUsage, for the same reason as in expand().
  Result<std::optional<std::string>> place(std::string_view path, std::size_t index) const;

 private:
  enum class Field { kText, kStem, kPath, kIndex, kGroup, kCapture };
  struct TemplatePart {
    Field field;
    std::string text;
    std::size_t capture = 0;  // for kCapture: its number, from 1
  };
  static Result<BlockTemplate> parse(std::string_view text, bool is_tag);
  bool has(Field field) const {
    return std::ranges::find(parts_, field, &TemplatePart::field) != parts_.end();
  }
  std::vector<TemplatePart> parts_;
};

class NMB_EXPORT BlockNames {
 public:
  // block_name: PackOptions::block_name. unites: whether the mode of the merge is another than
  // Pack. Errors: those of BlockTemplate::parse().
  static Result<BlockNames> make(std::string_view block_name, bool unites);

  // Returns the template for an input. has_groups: whether the input may have several blocks. This
  // is the case for NMB and HDF5 files.
  const BlockTemplate& of(bool has_groups) const { return has_groups ? grouped_ : classic_; }
  // Returns how the paths of objects change if block `block` of an input is packed without being
  // divided or united. The paths do not change if no single move describes the names of all groups.
  PathMove move(std::string_view path, std::size_t index, std::string_view block) const;

 private:
  BlockTemplate classic_, grouped_;
};

}  // namespace nmb

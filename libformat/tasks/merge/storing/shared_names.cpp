#include "merge/storing/shared_names.h"

#include <string_view>

#include "model/attribute_differences.h"
#include "model/classic.h"
#include "model/header_bytes.h"

namespace nmb {

void SharedNames::note_block(const std::string& name, Occurrence at) {
  if (ranks_.size() > 1) blocks_.emplace_back(NameUse{name, at.input, {}}, at);
}

void SharedNames::note_group(const std::string& group) {
  const Occurrence here = conflicts_.next_object();
  auto [it, is_new] = groups_.emplace(group, here);
  if (!is_new) conflicts_.add_group(here, group, it->second.input);
}

bool SharedNames::note_parent(const std::string& name, const Metadata& attributes) {
  const Occurrence here = conflicts_.next_object();
  auto [known, is_new] = parents_.try_emplace(name);
  known->second.push_back({here, attributes});
  // With several ranks, another rank may have an earlier use, so the comparison must wait.
  if (!is_new && ranks_.size() == 1) {
    compare_attributes(name, known->second[0], known->second[1]);
    known->second.pop_back();
  }
  return is_new;
}

void SharedNames::compare_attributes(const std::string& name, const Parent& first,
                                     const Parent& second) {
  for_each_difference(
      second.metadata, kGlobal, first.metadata, kGlobal, [](std::string_view) { return true; },
      has_same_value,
      [&](const Attribute* found, const Attribute* expected) {
        const std::string_view attribute = (found ? found : expected)->name;
        conflicts_.add_at(
            second.occurrence, ConflictKind::kAttributes, name + "@" + std::string(attribute),
            first.occurrence.input, second.occurrence.input,
            found ? "a global attribute with different values for one block"
                  : "a global attribute that the second file does not have",
            "equal attributes; MergeOptions::block_name '{stem}/{group}' makes separate blocks");
      });
}

Status SharedNames::compare_with_other_ranks() {
  NMB_ASSIGN(const FirstInputs blocks, compare_blocks());
  NMB_ASSIGN(const FirstInputs groups, compare_groups());
  // If two inputs of this rank differ, the later input also differs from the first input of all
  // ranks.
  for (auto& [occurrence, conflict] : conflicts_.all()) {
    if (conflict.second_file.empty()) continue;
    const auto& firsts = conflict.kind == ConflictKind::kBlockName ? blocks : groups;
    auto found = conflict.kind == ConflictKind::kBlockName || conflict.kind == ConflictKind::kGroup
                     ? firsts.find(conflict.object)
                     : firsts.end();
    if (found != firsts.end()) conflict.first_file = conflicts_.input(found->second);
  }
  return {};
}

Result<std::vector<NameUse>> SharedNames::describe_blocks() {
  std::vector<NameUse> uses;
  for (auto& [use, at] : blocks_) {
    auto parent = parents_.find(use.name);
    if (parent != parents_.end() && parent->second[0].occurrence.input == use.input) {
      NMB_ASSIGN(use.about, header_bytes(parent->second[0].metadata, Kind::kCdf5, 0));
    }
    uses.push_back(std::move(use));
  }
  return uses;
}

Result<SharedNames::FirstInputs> SharedNames::compare_blocks() {
  FirstInputs elsewhere;
  Result<std::vector<NameUse>> described = describe_blocks();
  NMB_TRY(ranks_.agree(described.status()));
  const std::vector<NameUse>& uses = *described;
  NMB_ASSIGN(const std::vector<NameUse> first, first_uses(ranks_, uses));
  auto compare = [&]() -> Status {
    for (std::size_t i = 0; i < uses.size(); ++i) {
      const NameUse& use = uses[i];
      if (first[i].input == use.input) continue;
      if (use.about.empty() || first[i].about.empty()) {
        conflicts_.add_block_name(blocks_[i].second, use.name, first[i].input);
        elsewhere.emplace(use.name, first[i].input);
        continue;
      }
      NMB_ASSIGN(ClassicHeader header, decode_classic_header(MemorySource(first[i].about, use.name),
                                                             {.values_follow = false}));
      std::vector<Parent>& parents = parents_[use.name];
      parents.insert(parents.begin(), {{first[i].input, 0}, std::move(header.metadata)});
    }
    return {};
  };
  NMB_TRY(ranks_.agree(compare()));
  for (const auto& [name, parents] : parents_)
    for (std::size_t i = 1; i < parents.size(); ++i)
      compare_attributes(name, parents[0], parents[i]);
  return elsewhere;
}

Result<SharedNames::FirstInputs> SharedNames::compare_groups() {
  std::vector<NameUse> uses;
  std::vector<Occurrence> occurrences;
  for (const auto& [group, occurrence] : groups_) {
    uses.push_back({group, occurrence.input, {}});
    occurrences.push_back(occurrence);
  }
  NMB_ASSIGN(const std::vector<NameUse> first, first_uses(ranks_, uses));
  FirstInputs elsewhere;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (first[i].input == uses[i].input) continue;
    conflicts_.add_group(occurrences[i], uses[i].name, first[i].input);
    elsewhere.emplace(uses[i].name, first[i].input);
  }
  return elsewhere;
}

}  // namespace nmb

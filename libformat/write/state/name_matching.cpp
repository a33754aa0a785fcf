#include "state/name_matching.h"

#include <algorithm>

#include "model/name_rules.h"
#include "page/page.h"
#include "parallel/merge_runs.h"
#include "parallel/name_slices.h"
#include "parallel/outbox.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

std::string_view text_of(Claim claim) {
  switch (claim) {
    case Claim::kDefine:
      return "defined";
    case Claim::kDefineAlone:
      return "packed or renamed";
    case Claim::kHave:
      return "defined before";
    case Claim::kHaveChanged:
      return "changed before";
    case Claim::kRedefine:
    case Claim::kChange:
      return "changed";
    case Claim::kRemove:
      return "removed or renamed";
    case Claim::kPut:
    case Claim::kKeep:
    case Claim::kKnow:
      break;
  }
  return "values put";
}

// A NameRecord on the rank that owns its name.
struct Claimed {
  std::string_view name;
  Sharing::Handle handle;
  Claim claim;
  bool stays_primary = false;
  // Among the names before this name in the slice: how many are added, minus how many are removed.
  std::int64_t change = 0;
};

bool is_value(Claim claim) { return claim == Claim::kPut || claim == Claim::kKeep; }
bool is_new(Claim claim) {
  return claim == Claim::kDefine || claim == Claim::kHave || claim == Claim::kRedefine;
}
// Returns whether several ranks may make this claim to one block.
bool is_shared(Claim claim) {
  return is_new(claim) || claim == Claim::kChange || claim == Claim::kHaveChanged;
}

// Checks whether the records of one name are compatible. *change: 1 if the records add the name to
// the file, -1 if they remove it, and 0 if they do neither or both.
Status judge(std::span<const Claimed> group, std::int64_t* change) {
  bool comes = false, goes = false, all_alike = true;
  const Claimed* first_value = nullptr;
  const Claimed* last_value = nullptr;
  const Claimed* first = nullptr;
  const Claimed* other = nullptr;
  for (const Claimed& c : group) {
    if (is_value(c.claim)) {
      if (!first_value) first_value = &c;
      last_value = &c;
    }
    if (is_value(c.claim) || c.claim == Claim::kKnow) continue;
    comes = comes || is_new(c.claim) || c.claim == Claim::kDefineAlone;
    goes = goes || c.claim == Claim::kRemove;
    if (!first) first = &c;
    const bool alike = c.claim == first->claim && is_shared(c.claim);
    all_alike = all_alike && alike;
    if (c.handle.rank != first->handle.rank && (!other || (!alike && other->claim == first->claim)))
      other = &c;
  }
  *change = (comes ? 1 : 0) - (goes ? 1 : 0);
  if (other && all_alike) other = nullptr;
  // Values and definitions of one block must come from the same ranks.
  if (!other && first && first_value)
    other = first_value->handle.rank != first->handle.rank ? first_value : last_value;
  if (!other || other->handle.rank == first->handle.rank) return {};
  return Status(Code::kConflict, {}, kNoOffset, {},
                joined_text("block ", in_quotes(first->name), ": found ", text_of(other->claim),
                            " on rank ", other->handle.rank, ", expected only ",
                            text_of(first->claim), " on rank ", first->handle.rank),
                other->handle.rank);
}

// Returns the handles of the ranks that share the block; the primary's handle is the first. Returns
// an empty list if the block is not shared.
std::vector<Sharing::Handle> sharers(std::span<const Claimed> group) {
  std::vector<Sharing::Handle> handles, knowing;
  bool any_value = false;
  for (const Claimed& c : group) {
    any_value = any_value || is_value(c.claim);
    if (c.claim == Claim::kKnow) knowing.push_back(c.handle);
    if (!is_shared(c.claim) && !is_value(c.claim)) continue;
    handles.push_back(c.handle);
    if (c.stays_primary || c.claim == Claim::kKeep)
      std::rotate(handles.begin(), handles.end() - 1, handles.end());
  }
  if (any_value) handles.insert(handles.end(), knowing.begin(), knowing.end());
  if (handles.size() < 2) handles.clear();
  return handles;
}

}  // namespace

std::optional<Sharing::Handle> OwnedNames::find(std::string_view name) const {
  auto it = std::ranges::lower_bound(names_, name, {}, &Owned::name);
  if (it == names_.end() || it->name != name) return std::nullopt;
  return it->primary;
}

namespace {

// status: if given, receives the status of this rank, and the changes of other slices are not
// added.
Result<std::vector<NameMatch>> match(Communicator& ranks, std::span<const NameRecord> records,
                                     NameSlices* slices_out, OwnedNames* owned, Status* status) {
  std::vector<std::string_view> names;
  names.reserve(records.size());
  for (const NameRecord& record : records) names.push_back(record.name);
  NMB_ASSIGN(const NameSlices slices, NameSlices::choose(ranks, names, kLeafRows));
  const std::vector<std::size_t> begins = slices.cut(names);
  Outbox<NameRecord> sent;
  for (std::size_t s = 0; s < slices.count(); ++s)
    for (std::size_t i = begins[s]; i < begins[s + 1]; ++i) sent.add(slices.owner(s), records[i]);
  NMB_ASSIGN(const Inbox<NameRecord> arrived, exchange(ranks, sent));

  std::vector<Claimed> claims;
  claims.reserve(arrived.size());
  std::vector<std::size_t> ends;
  for (const auto& [rank, record] : arrived) {
    if (!claims.empty() && claims.back().handle.rank != rank) ends.push_back(claims.size());
    claims.push_back({record.name, {rank, record.id}, record.claim, record.stays_primary});
  }
  ends.push_back(claims.size());
  // The merge is stable, and the records of lower ranks come first. Therefore records of the same
  // name stay in ascending order of ranks.
  merge_runs(claims, std::move(ends),
             [](const Claimed& a, const Claimed& b) { return a.name < b.name; });
  auto for_each_name = [&](auto visit) {
    for (std::size_t i = 0, j; i < claims.size(); i = j) {
      for (j = i + 1; j < claims.size() && claims[j].name == claims[i].name;) ++j;
      visit(std::span(claims).subspan(i, j - i));
    }
  };
  Status judged;
  std::int64_t changes = 0, before = 0;
  for_each_name([&](std::span<Claimed> group) {
    std::int64_t change = 0;
    const Status of_group = judge(group, &change);
    if (judged.ok()) judged = of_group;
    for (Claimed& claimed : group) claimed.change = changes;
    changes += change;
  });
  if (status) {
    *status = judged;
  } else {
    NMB_TRY(ranks.agree(judged));
    NMB_ASSIGN(before, ranks.scan_before(changes, std::int64_t{0}, std::plus<>()));
  }
  // The answers that a rank receives are in the order of its names. The primary receives the
  // handles of all ranks that share the block. Each other rank that shares the block receives only
  // the primary's handle.
  Outbox<NameMatch> replies;
  for_each_name([&](std::span<Claimed> group) {
    const std::vector<Sharing::Handle> handles = sharers(group);
    for (const Claimed& claimed : group) {
      if (!owned || (!is_shared(claimed.claim) && claimed.claim != Claim::kDefineAlone)) continue;
      owned->add(claimed.name, handles.empty() ? claimed.handle : handles[0]);
      break;
    }
    for (const Claimed& claimed : group) {
      const int rank = claimed.handle.rank;
      const bool shares =
          !handles.empty() &&
          (is_shared(claimed.claim) || is_value(claimed.claim) || claimed.claim == Claim::kKnow);
      NameMatch match{before + claimed.change, {}};
      if (shares && rank == handles[0].rank)
        match.handles = handles;
      else if (shares)
        match.handles = {handles[0]};
      replies.add(rank, match);
    }
  });
  NMB_ASSIGN(Inbox<NameMatch> answers, exchange(ranks, replies));
  if (slices_out) *slices_out = slices;
  std::vector<NameMatch> matches;
  matches.reserve(records.size());
  for (auto& [owner, match] : answers) matches.push_back(std::move(match));
  return matches;
}

}  // namespace

Result<std::vector<NameMatch>> match_names(Communicator& ranks, std::span<const NameRecord> records,
                                           NameSlices* slices, OwnedNames* owned) {
  return match(ranks, records, slices, owned, nullptr);
}

Result<std::vector<NameMatch>> match_sharers(Communicator& ranks,
                                             std::span<const NameRecord> records, Status* status) {
  return match(ranks, records, nullptr, nullptr, status);
}

}  // namespace nmb

#include "merge/storing/merge_writer.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "convert/moved_paths.h"
#include "hdf5_types/hdf5_section.h"
#include "merge/reporting/pack_plan.h"
#include "model/name_rules.h"
#include "reader/file_reader.h"
#include "table/kept_rows.h"

namespace nmb {

// Removes the output's old block with this name, if blocks may be replaced.
Status MergeWriter::make_room(const OutputName& name) {
  if (!options_.pack().replace) return {};
  const Result<BlockId> old = writer_.find_block(name.name);
  if (!old.ok())
    return old.status().code() == Code::kNotFound || old.status().code() == Code::kUsage
               ? Status()
               : old.status();
  if (!is_of_output(*old)) return {};
  ++counts_.replaced;
  replaced_names_.insert(name.name);
  return writer_.remove_block(*old);
}

// Checks the blocks below each block that the current input replaces. In HDF5 and netCDF-4 files,
// groups can use dimensions and named datatypes of the groups above them. So if the replaced block
// came from such a file, the same input must also replace the blocks below it that came from such
// files. Errors: kConflict.
Status MergeWriter::check_blocks_below() const {
  if (replaced_names_.empty()) return {};
  constexpr auto kExtended = static_cast<std::uint16_t>(Kind::kExtended);
  NMB_ASSIGN(const std::unique_ptr<FileReader> old, FileReader::open(options_.output));
  for (const std::string& name : replaced_names_) {
    NMB_ASSIGN(const std::optional<BlockEntry> entry, old->find(name));
    if (!entry || entry->kind != kExtended) continue;
    std::string stays;
    NMB_TRY(old->for_each_entry(name.empty() ? "" : name + "/",
                                [&](const BlockEntry& below) -> Result<bool> {
                                  if (below.kind == kExtended && below.name != name &&
                                      !replaced_names_.contains(below.name))
                                    stays = below.name;
                                  return stays.empty();
                                }));
    if (!stays.empty())
      return Status(Code::kConflict, options_.output, kNoOffset, "",
                    "block " + in_quotes(name) + " cannot be replaced alone, because block " +
                        in_quotes(stays) +
                        " below it may use its dimensions or datatypes; replace both with one "
                        "input; nothing was written");
  }
  return {};
}

// Returns the id of a new block, or adds a conflict and returns nullopt.
std::optional<BlockId> MergeWriter::defined(Result<BlockId> id, const OutputName& name,
                                            Status* status) {
  const Occurrence here = conflicts_.next_object();
  if (id.ok()) {
    inputs_.resize(*id + 1, kOfOutput);
    inputs_[*id] = static_cast<std::uint32_t>(here.input);
    if (first_names_.size() < kFirstBlocks) first_names_.push_back(name.name);
    names_.note_block(name.name, here);
    return *id;
  }
  if (id.status().code() == Code::kUsage) {
    std::string expected =
        "at most 65535 bytes of UTF-8, without NUL, empty parts, \".\" and \"..\"";
    if (name.has_input_name)
      expected += "; use MergeOptions::block_name with {index} instead of {stem} and {path}";
    conflicts_.add(ConflictKind::kBlockName, name.name, "an illegal name", std::move(expected));
    return std::nullopt;
  }
  if (id.status().code() != Code::kExists) {
    *status = id.status();
    return std::nullopt;
  }
  const Result<BlockId> first = writer_.find_block(name.name);
  if (is_of_output(*first))
    conflicts_.add(ConflictKind::kBlockName, name.name, "a block that the output already has",
                   "a new block");
  else
    conflicts_.add_block_name(here, name.name, inputs_[*first]);
  return std::nullopt;
}

Result<std::uint64_t> MergeWriter::samples_of(const OutputName& name, const SampleCounts& counts,
                                              std::optional<std::uint64_t> recorded) {
  if (recorded && options_.samples.by == SampleRule::By::kDefault) return *recorded;
  has_sample_dimension_ |= counts.length.has_value();
  Result<std::uint64_t> count = count_samples(options_.samples, counts, name.group);
  if (count.ok() || count.status().code() != Code::kConflict) return count;
  conflicts_.add(ConflictKind::kSamples, name.name, std::to_string(counts.variables) + " variables",
                 "a multiple of " + std::to_string(options_.samples.variables));
  return std::uint64_t{0};
}

namespace {

// Returns whether the block is empty: it has no dimensions, variables, values, samples or named
// datatypes. Its only attribute may be _NCProperties, and its HDF5 properties may contain only the
// order of objects and links to groups.
Result<bool> is_empty(const InputBlock& block) {
  const Metadata& metadata = block.dataset.metadata;
  if (metadata.dimension_count() + metadata.variable_count() > 0 ||
      block.packed.extent_length > 0 || block.samples.value_or(0) > 0)
    return false;
  bool has_others = false;
  metadata.for_each_attribute(kGlobal, [&](const Attribute& attribute) {
    has_others = has_others || attribute.name != "_NCProperties";
  });
  const auto& extension = metadata.extension();
  if (has_others || !extension) return !has_others;
  for (std::size_t i = 0; i < extension->types.size(); ++i)
    if (!extension->types[i].name.empty()) return false;
  NMB_ASSIGN(const std::vector<hdf5::Property> properties,
             hdf5::decode_properties(extension->hdf5));
  return std::ranges::all_of(properties, [](const hdf5::Property& p) {
    using Number = hdf5::Property::Number;
    return p.number == Number::kOrder ||
           (p.number == Number::kLinks && std::ranges::all_of(p.links, [](const hdf5::Link& link) {
              return link.kind == hdf5::LinkKind::kGroup;
            }));
  });
}

}  // namespace

// Takes an empty group. Several inputs may share an empty group, for example a group that contains
// only groups.
Status MergeWriter::take_empty(const OutputName& name) {
  empty_ = name.name;
  if (const Result<BlockId> known = writer_.find_block(name.name);
      known.ok() && is_of_output(*known))
    return {};
  const Metadata nothing;
  InputPart part{nothing, {}, 0, 0, nullptr};
  part.is_rest = true;
  return take_part(name, std::move(part));
}

namespace {

// Returns whether the new name of a block of an NMB file is its old name, or its old name after a
// prefix in UTF-8.
bool keeps_name(const OutputName& name) {
  const std::string_view whole = name.name;
  return whole.ends_with(name.group) && is_utf8(whole.substr(0, whole.size() - name.group.size()));
}

}  // namespace

Status MergeWriter::take_whole(const OutputName& name, InputBlock& block) {
  std::ranges::move(block.originals, std::back_inserter(unplaced_));
  const bool shares_empty =
      options_.packs() && (options_.inputs.size() > 1 || options_.pack().append);
  if (shares_empty && block.is_group && !name.has_input_name) {
    NMB_ASSIGN(const bool empty, is_empty(block));
    if (empty) return take_empty(name);
  }
  PackedBlock& packed = block.packed;
  packed.name = name.name;
  if (!keeps_name(name)) packed.names = Metadata::Names::kNew;
  NMB_ASSIGN(const bool keeps, keeps_paths(name, block));
  if (!keeps) return {};
  const SampleCounts counts =
      block.counted ? *block.counted
                    : counts_of(options_.samples, block.dataset.metadata, packed.records);
  NMB_ASSIGN(packed.samples, samples_of(name, counts, block.samples));
  ValuesToCode values;
  if (block.wanted_chunks)
    storage_.note_chunks(*block.wanted_chunks);
  else if (!block.links)
    NMB_TRY(storage_.prepare(block.dataset, block.first_made_up, std::move(block.coded),
                             std::move(block.coded_in), &packed, &values));
  if (!block.links && packed.extent && packed.origin.empty())
    packed.origin = origin_of(packed.extent);
  counts_.digested += packed.new_digests != RecordedDigests::kNone;
  const std::shared_ptr<const KeptRows> rows = packed.kept;
  const std::uint64_t order = packed.kept_order;
  NMB_TRY(make_room(name));
  std::vector<Tag> tags;
  if (tagger_.has_rules()) {
    NMB_ASSIGN(const bool empty, is_empty(block));
    if (!empty) {
      NMB_ASSIGN(tags, tagger_.tags_of({name, conflicts_.here().input, block.dataset.metadata}));
    }
  }
  Status status;
  const std::optional<BlockId> id = defined(writer_.pack_block(std::move(packed)), name, &status);
  if (!id) return status;
  if (rows) {
    KeptCounts& kept = kept_[rows.get()];
    kept.tagged += rows->count(PageUse::kTags, order) > 0;
    kept.counted += rows->count(PageUse::kStatistics, order) > 0;
    for (const Tag& tag : tags) counts_.replaced_tags += rows->has(PageUse::kTags, order, tag.name);
  }
  NMB_TRY(set_tags(*id, tags));
  NMB_TRY(place_originals(*id));
  counts_.stored_twice += block.stored_twice;
  if (block.links && block.links->original) return link_to_original(*id, *std::move(block.links));
  if (block.links) return link_values(writer_, *id, std::move(*block.links));
  if (!block.wanted_chunks) storage_.note(*id, std::move(values));
  return {};
}

Status MergeWriter::set_tags(BlockId id, const std::vector<Tag>& tags) {
  for (const Tag& tag : tags) NMB_TRY(writer_.set_tag(id, tag.name, tag.value));
  return {};
}

// Adds the originals of an input to the writer. The originals belong to the input's first block
// that has content.
Status MergeWriter::place_originals(BlockId id) {
  for (InputOriginal& original : std::exchange(unplaced_, {})) {
    counts_.original_bytes += original.file->size();
    NewOriginal added{.path = std::move(original.path),
                      .block = id,
                      .file = std::move(original.file),
                      .digest = original.digest,
                      .sha256 = original.sha256,
                      .records_sha256 = options_.pack().digests == RecordedDigests::kSha256};
    NMB_ASSIGN(const std::uint32_t number, writer_.add_original(std::move(added)));
    numbers_.emplace(original.number, number);
    ++counts_.originals;
  }
  for (auto& [block, values] : std::exchange(unlinked_, {}))
    NMB_TRY(link_to_original(block, std::move(values)));
  return {};
}

Status MergeWriter::link_to_original(BlockId id, LinkedValues values) {
  const auto number = numbers_.find(*values.original);
  if (number == numbers_.end()) {
    unlinked_.emplace_back(id, std::move(values));
    return {};
  }
  values.original = number->second;
  return link_values(writer_, id, std::move(values));
}

void MergeWriter::begin_input(Source file) {
  if (failed_.ok()) failed_ = finish_input();
  storage_.begin_input(std::move(file));
}

Status MergeWriter::finish_input() {
  NMB_TRY(failed_);
  NMB_TRY(check_blocks_below());
  replaced_names_.clear();
  // If no block of the input has content, the originals belong to its last block.
  if (!unplaced_.empty())
    if (const Result<BlockId> known = writer_.find_block(empty_); known.ok())
      NMB_TRY(place_originals(*known));
  unplaced_.clear();
  numbers_.clear();
  unlinked_.clear();
  empty_.clear();
  return {};
}

// Returns an origin of four bytes, which hold a number. The text of a ValueOrigin is longer.
std::string MergeWriter::origin_of(Source values) {
  if (ranks_.size() == 1) return {};
  const auto number = static_cast<std::uint32_t>(sent_.size());
  sent_.push_back(std::move(values));
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

const ByteSource* MergeWriter::sent_by(std::string_view origin) const {
  std::uint32_t number;
  if (origin.size() != sizeof number) return nullptr;
  std::memcpy(&number, origin.data(), sizeof number);
  return sent_[number].get();
}

// Returns whether references by path stay valid under the block's new name. Adds a conflict if
// references become invalid.
Result<bool> MergeWriter::keeps_paths(const OutputName& name, const InputBlock& block) {
  if (block.is_placed || name.name == block.group) return true;
  NMB_ASSIGN(const bool has, has_paths(block.dataset.metadata));
  if (has)
    conflicts_.add(
        ConflictKind::kBlockName, name.name,
        "references, links or named datatypes, whose paths cannot change to this name",
        "a name that ends in the group's path, as with MergeOptions::block_name '{index}/{group}'");
  return !has;
}

Status MergeWriter::take_part(const OutputName& name, InputPart part) {
  const Metadata& metadata = part.metadata;
  if (part.is_rest && metadata.variable_count() + metadata.dimension_count() == 0 &&
      !names_.note_parent(name.name, metadata))
    return {};
  NMB_TRY(storage_.check_codec(metadata));
  NMB_ASSIGN(const std::uint64_t samples,
             samples_of(name, counts_of(options_.samples, metadata, part.records), part.samples));
  NMB_TRY(make_room(name));
  std::vector<Tag> tags;
  // Several inputs may share a block without content, so its tags must not depend on one of them.
  if (tagger_.has_rules() && metadata.variable_count() + metadata.dimension_count() > 0) {
    NMB_ASSIGN(tags, tagger_.tags_of(
                         {name, conflicts_.here().input, metadata, part.divided, &part.captures}));
  }
  Status status;
  const std::optional<BlockId> id =
      defined(writer_.define_block(name.name, metadata, part.records), name, &status);
  if (!id) return status;
  NMB_TRY(set_tags(*id, tags));
  NMB_TRY(writer_.set_field(*id, &EntryFields::samples, samples));
  if (sources_.empty() || sources_.back().values != part.values) {
    std::string origin(part.origin);
    if (origin.empty() && part.values) origin = origin_of(part.values);
    sources_.push_back({std::move(part.values), std::move(origin)});
  }
  if (part.is_laid) part.begins.clear();
  parts_.push_back({*id, static_cast<std::uint32_t>(sources_.size() - 1), std::move(part.begins),
                    part.record_size, false});
  return {};
}

Status MergeWriter::take_values() {
  for (OutputPart& part : parts_) {
    if (part.coded) continue;
    NMB_ASSIGN(const Metadata* metadata, writer_.metadata(part.id));
    NMB_ASSIGN(const ClassicLayout layout, writer_.layout(part.id));
    std::vector<ValueRuns> runs = runs_of(part, *metadata, layout);
    part.begins = {};
    if (runs.empty()) continue;
    const PartSource& source = sources_[part.source];
    NMB_TRY(writer_.take_values(part.id, source.values, std::move(runs), source.origin));
  }
  return {};
}

}  // namespace nmb

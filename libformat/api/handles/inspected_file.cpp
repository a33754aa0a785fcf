#include "handles/inspected_file.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "client/hdf5.h"
#include "hdf5_types/netcdf_marks.h"
#include "model/name_rules.h"
#include "model/paths.h"
#include "sources/value_source.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

BlockEntry entry_of(const Dataset& dataset) {
  BlockEntry entry;
  entry.kind = static_cast<std::uint16_t>(dataset.kind());
  entry.stored_length = entry.raw_length = dataset.layout.header_length;
  entry.extent_position = dataset.layout.header_length;
  entry.extent_length = dataset.extent->size();
  count_objects(dataset.metadata, &entry);
  entry.records = dataset.records;
  entry.samples = default_samples(entry.variables);
  return entry;
}

}  // namespace

InspectedFile InspectedFile::of(std::unique_ptr<FileReader> reader) {
  InspectedFile out;
  out.reader_ = std::move(reader);
  return out;
}

Result<InspectedFile> InspectedFile::open(std::shared_ptr<const InputFile> file,
                                          const ReadOptions& options) {
  InspectedFile out;
  out.file_ = std::move(file);
  const FileKind kind = out.file_->kind();
  if (kind == FileKind::kNmb) {
    NMB_ASSIGN(out.reader_, FileReader::open(out.file_, options));
  } else if (kind == FileKind::kHdf5) {
    NMB_ASSIGN(std::vector<std::shared_ptr<const LoadedBlock>> blocks,
               open_hdf5(out.file_, hdf5::other_files(options.external)));
    out.held_.reserve(blocks.size());
    for (std::shared_ptr<const LoadedBlock>& block : blocks) {
      BlockEntry entry = block->entry;
      out.hold(std::move(entry), std::move(block));
    }
  } else if (out.is_classic()) {
    NMB_ASSIGN(std::shared_ptr<const Dataset> dataset, open_classic(out.file_));
    BlockEntry entry = entry_of(*dataset);
    out.hold(std::move(entry), std::move(dataset));
  } else {
    return refused_kind(*out.file_, kind);
  }
  return out;
}

void InspectedFile::hold(BlockEntry entry, std::shared_ptr<const Dataset> dataset) {
  held_totals_ += entry.totals();
  held_.push_back({std::move(entry), std::move(dataset)});
}

std::vector<InspectedFile::Held>::const_iterator InspectedFile::at_or_behind(
    std::string_view name) const {
  return std::lower_bound(held_.begin(), held_.end(), name,
                          [](const Held& a, std::string_view b) { return a.entry.name < b; });
}

std::string InspectedFile::stem() const {
  return std::filesystem::path(file_->name()).stem().string();
}

std::optional<std::uint64_t> InspectedFile::memory() const {
  if (reader_) return std::nullopt;
  std::uint64_t bytes = 0;
  for (const Held& held : held_) {
    bytes += sizeof held + held.dataset->metadata.memory() + held.entry.raw_length;
    const auto* const spliced = form_of<form::Spliced>(held.dataset->extent.get());
    if (!spliced) continue;
    for (const form::Spliced::SourceRun& run : spliced->runs) {
      const KnownSource source = spliced->sources[run.from]->known();
      bytes += sizeof run + (std::holds_alternative<const SpoolFile*>(source) ? run.length : 0);
    }
  }
  return bytes;
}

Result<Totals> InspectedFile::totals_of_prefix(std::string_view prefix) const {
  if (reader_) return reader_->totals_of_prefix(prefix);
  Totals totals;
  NMB_TRY(for_each_entry(prefix, [&](const BlockEntry& entry) -> Result<bool> {
    totals += entry.totals();
    return true;
  }));
  return totals;
}

Result<std::optional<BlockEntry>> InspectedFile::find(std::string_view block) const {
  if (reader_) return reader_->find(block);
  const auto found = at_or_behind(block);
  return found != held_.end() && found->entry.name == block ? std::optional(found->entry)
                                                            : std::nullopt;
}

Result<std::optional<BlockEntry>> InspectedFile::at(std::uint64_t position) const {
  if (reader_) return reader_->at(position);
  return position < held_.size() ? std::optional(held_[position].entry) : std::nullopt;
}

Result<std::optional<CountedObject>> InspectedFile::counted(std::uint64_t BlockCounts::*count,
                                                            std::uint64_t number) const {
  if (reader_) return reader_->counted(count, number);
  for (const Held& held : held_) {
    const std::uint64_t objects = held.entry.*count;
    if (number < objects) return std::optional<CountedObject>({held.entry, number});
    number -= objects;
  }
  return std::optional<CountedObject>();
}

Status InspectedFile::for_each_entry(std::string_view prefix,
                                     const std::function<Result<bool>(const BlockEntry&)>& visit,
                                     std::string_view from) const {
  if (reader_) return reader_->for_each_entry(prefix, visit, from);
  for (auto at = at_or_behind(std::max(prefix, from));
       at != held_.end() && at->entry.name.starts_with(prefix); ++at) {
    NMB_ASSIGN(const bool more, visit(at->entry));
    if (!more) break;
  }
  return {};
}

Result<std::shared_ptr<const Dataset>> InspectedFile::dataset(const BlockEntry& entry) const {
  if (!reader_) return at_or_behind(entry.name)->dataset;
  NMB_ASSIGN(std::shared_ptr<const LoadedBlock> block, reader_->block(entry));
  return std::shared_ptr<const Dataset>(std::move(block));
}

Result<std::shared_ptr<const Dataset>> InspectedFile::dataset(std::string_view block) const {
  NMB_ASSIGN(const std::optional<BlockEntry> entry, find(block));
  if (!entry) return no_block(block);
  return dataset(*entry);
}

Status InspectedFile::no_block(std::string_view name) const {
  std::string text =
      name.empty() ? "found no root block" : joined_text("found no block ", in_quotes(name));
  const auto [parent, variable] = split_path(name);
  NMB_ASSIGN(const std::optional<BlockEntry> above, find(parent));
  if (above) {
    const Result<std::shared_ptr<const Dataset>> block = dataset(*above);
    if (block.ok() && (*block)->metadata.find_variable(variable))
      text = joined_text(in_quotes(name), " is a variable of ",
                         parent.empty() ? "the root block" : "block " + in_quotes(parent),
                         ", expected the name of a block");
  }
  return Status(Code::kNotFound, reader_ ? reader_->file().name() : file_->name(), kNoOffset, "",
                std::move(text));
}

FileBlocks InspectedFile::blocks() const {
  return {
      [this](std::string_view name) { return find(name); },
      [this](std::string_view prefix, const auto& visit) { return for_each_entry(prefix, visit); },
      [this](const BlockEntry& entry) { return dataset(entry); }};
}

Status for_each_block(const InspectedFile& file, const NamePattern& pattern,
                      const std::function<Result<bool>(const BlockEntry&)>& visit,
                      std::string_view from) {
  if (pattern.is_literal()) {
    if (pattern.literal_prefix() < from) return {};
    NMB_ASSIGN(const std::optional<BlockEntry> entry, file.find(pattern.literal_prefix()));
    return entry ? visit(*entry).status() : Status();
  }
  return file.for_each_entry(
      pattern.literal_prefix(),
      [&](const BlockEntry& entry) -> Result<bool> {
        NMB_ASSIGN(const bool fits, pattern.matches(entry.name));
        return fits ? visit(entry) : true;
      },
      from);
}

}  // namespace nmb

// Define mode: blocks and their definitions (spec/format.md, sections 7 and 8).
#include "block/name_rules.h"
#include "block/sections.h"
#include "extent/piece_codec.h"
#include "wire/checked.h"
#include "wire/endian.h"
#include "writer/writer_impl.h"

namespace nmb {

namespace {

// spec/format.md, section 8.4.
Status check_block_name(std::string_view name) {
  auto bad = [&](const std::string& why) {
    return Status(Code::kUsage, "found block name " + in_quotes(name) + ", expected one " + why);
  };
  if (name.empty()) return {};
  if (name.size() > kMaxNameBytes) return bad("of at most 65535 bytes");
  if (name.find('\0') != std::string_view::npos) return bad("without NUL");
  if (!is_utf8(name)) return bad("in UTF-8");
  for (std::size_t begin = 0; begin <= name.size();) {
    std::size_t end = name.find('/', begin);
    if (end == std::string_view::npos) end = name.size();
    const std::string_view part = name.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..")
      return bad("without empty parts, \".\" and \"..\"");
    begin = end + 1;
  }
  return {};
}

// Sections of an extended body that this version does not know may forbid changes of the block.
Status check_body_may_change(const ReaderCore& core, const BlockEntry& entry) {
  constexpr std::uint16_t kFirstKnown = 2, kLastKnown = 5;
  constexpr std::size_t kHeaderLengthOffset = 12;
  if (static_cast<Kind>(entry.kind) != Kind::kExtended) return {};
  const Result<StoredBlock> stored = core.load(entry, false);
  if (!stored.ok() || stored->body.size() < kHeaderLengthOffset + 8) return {};  // one may go
  const std::uint64_t size = stored->body.size();
  const std::uint64_t begin =
      round_up(std::min(load_be<std::uint64_t>(&stored->body[kHeaderLengthOffset]), size), 8);
  if (begin >= size) return {};
  Status status;
  NMB_TRY(walk_sections(
      MemorySource(stored->body), {begin, size - begin, 0},
      [&](const SectionFrame& frame) {
        const bool known = frame.type >= kFirstKnown && frame.type <= kLastKnown;
        if (!known && (frame.flags & (kCriticalForReading | kCriticalForWriting)) != 0)
          status = Status(Code::kUnsupported, core.file().name(), kNoOffset, "",
                          "block " + in_quotes(entry.name) + " has a section of type " +
                              std::to_string(frame.type) + " that only a newer writer keeps up");
      },
      [](std::uint64_t, const std::string&, const std::string&) {}));
  return status;
}

Status wrong_mode() {
  return Status(Code::kUsage, "found a definition outside define mode, expected redefine() first");
}

}  // namespace

Status Writer::Impl::check_id(BlockId id) {
  if (id >= blocks_.size() || blocks_[id]->removed)
    return Status(Code::kUsage,
                  "found block ID " + std::to_string(id) + ", expected one of a block");
  return refresh(id);
}

Result<bool> Writer::Impl::exists(std::string_view name) {
  if (names_.find(name)) return true;
  if (!core_ || removed_names_.count(name)) return false;
  return core_->index().contains(name);
}

BlockId Writer::Impl::add_block(std::string_view name) {
  const BlockId id = names_.add(name);
  blocks_.add();
  return id;
}

void Writer::Impl::mark_pending(BlockId id) {
  BlockState& block = state(id);
  if (!block.pending) pending_.push_back(id);
  block.pending = true;
}

// The committed block's bytes are dead with the next commit.
void Writer::Impl::retire_header(BlockId id) {
  BlockState& block = state(id);
  if (!block.committed || block.header_dead) return;
  block.header_dead = true;
  dead_.push_back({block.committed->position,
                   block_length(block.committed->name.size(), block.committed->stored_length), 0,
                   false});
}

Result<BlockId> Writer::Impl::define_block(std::string_view name, const Metadata* definitions) {
  NMB_TRY(failure_);
  if (!define_mode_) return wrong_mode();
  NMB_TRY(check_block_name(name));
  NMB_ASSIGN(bool taken, exists(name));
  if (taken)
    return Status(Code::kExists,
                  "found a block " + in_quotes(name) + " already, expected a new name");
  const BlockId id = add_block(name);
  BlockState& block = state(id);
  block.metadata = std::make_unique<Metadata>();
  // Blocks of one file tend to be alike; the first large one says nothing of those to come.
  constexpr std::size_t kReserve = 64 << 10;
  const BlockState* const before = id > 0 ? defining_new(id - 1) : nullptr;
  names_like_ = NamesLike(before && !definitions ? before->metadata.get() : nullptr);
  if (definitions)
    block.metadata->copy_from(*definitions, definitions_,
                              before ? before->metadata.get() : nullptr);
  else if (before && before->metadata->memory() <= kReserve)
    block.metadata->reserve_like(*before->metadata, definitions_);
  mark_pending(id);
  return id;
}

Result<BlockId> Writer::Impl::find_block(std::string_view name) {
  NMB_TRY(failure_);
  if (std::optional<std::uint32_t> id = names_.find(name)) return *id;
  std::optional<BlockEntry> entry;
  if (core_ && !removed_names_.count(name)) {
    NMB_ASSIGN(entry, core_->index().find(name));
  }
  if (!entry)
    return Status(Code::kNotFound, file_->name(), kNoOffset, "",
                  "found no block " + in_quotes(name));
  // A block that cannot be read is kept as it is: others may be written beside it.
  NMB_TRY(core_->check_needs(*entry));
  const BlockId id = add_block(name);
  take_entry(id, std::move(*entry));
  return id;
}

// What the index says of a block is what this rank knows of it.
void Writer::Impl::take_entry(BlockId id, BlockEntry entry) {
  BlockState& block = state(id);
  block.committed = std::make_unique<BlockEntry>(std::move(entry));
  block.values = ExtentOrigin(UnchangedValues());
  const BlockEntry& e = *block.committed;
  block.body_from = BodyFrom::kCommitted;
  block.written = true;
  block.known_at = superblock_.generation;
  block.kind = static_cast<Kind>(e.kind);
  block.codec = static_cast<std::uint8_t>(e.codec);
  block.position = e.position;
  block.stored_length = e.stored_length;
  block.raw_length = e.raw_length;
  block.digest = e.digest;
  block.dimensions = e.dimensions;
  block.variables = e.variables;
  block.attributes = e.attributes;
  block.records = e.records;
  block.samples = e.samples;
  block.order = e.order;
  block.extent_length = e.extent_length;
}

// Of a block that another rank may have committed since: what is known of it now.
Status Writer::Impl::refresh(BlockId id) {
  BlockState& block = state(id);
  if (ranks_.size() == 1 || !block.written || block.known_at == superblock_.generation) return {};
  block.sharing.reset();
  block.kept = true;
  block.run_position = 0;
  block.inline_run = false;
  NMB_ASSIGN(std::optional<BlockEntry> entry, core_->index().find(names_.at(id)));
  if (!entry)
    return Status(Code::kNotFound, file_->name(), kNoOffset, "",
                  "found no block " + in_quotes(names_.at(id)) + " any more");
  if (entry->digest != block.digest) {
    if (block.partial)
      return Status(Code::kUnsupported, "found shared block " + in_quotes(names_.at(id)) +
                                            " redefined by another rank, expected it unchanged");
    block.metadata.reset();
  }
  take_entry(id, std::move(*entry));
  block.layout.records = block.records;
  return {};
}

// Metadata and layout of a block that is written but not looked at.
Status Writer::Impl::load_definitions(BlockId id) {
  BlockState& block = state(id);
  if (block.metadata) return {};
  NMB_ASSIGN(ClassicHeader header, stored_header(id));
  block.metadata = std::make_unique<Metadata>(std::move(header.metadata));
  block.layout = header.layout;
  block.layout.records = block.records;
  return {};
}

// Of a block that is committed or packed.
Result<ClassicHeader> Writer::Impl::stored_header(BlockId id) {
  const BlockState& block = state(id);
  if (block.committed) {
    NMB_ASSIGN(StoredBlock stored, core_->load(*block.committed, false));
    return decode_body(*block.committed, stored.header.records, stored.body, *source_);
  }
  return decode_classic_header(*block.packed->body, {.values_follow = false});
}

// Turns a block whose layout is fixed into one that is being defined; its values are carried over
// by end_define.
Status Writer::Impl::start_edit(BlockId id) {
  BlockState& block = state(id);
  if (!block.written || block.edited) return {};
  if (block.partial)
    return Status(Code::kUnsupported,
                  "found a change of block " + in_quotes(names_.at(id)) +
                      ", of which this rank knows its own definitions only, expected one by the "
                      "rank that defined it first");
  if (!block.values.takes_puts())
    return Status(Code::kUsage, "found a change of block " + in_quotes(names_.at(id)) +
                                    " before its values were moved, expected sync() first");
  if (block.kind == Kind::kExtended)
    return Status(Code::kUnsupported,
                  "found a change of block " + in_quotes(names_.at(id)) +
                      ", whose body is of kind 6, expected one of classic kind");
  NMB_TRY(load_definitions(id));
  NMB_TRY(extent_of(id)->load(0));
  block.old = std::make_unique<OldContent>();
  block.old->metadata = *block.metadata;
  block.old->layout = block.layout;
  block.old->records = block.records;
  block.old->extent = block.values.as<PutValues>()->take();
  retire_header(id);
  block.body_from = BodyFrom::kMetadata;
  block.kind = Kind::kCdf5;
  block.edited = true;
  mark_pending(id);
  return {};
}

Result<BlockState*> Writer::Impl::defining(BlockId id) {
  NMB_TRY(failure_);
  NMB_TRY(check_id(id));
  if (!define_mode_) return wrong_mode();
  if (state(id).packed)
    return Status(Code::kUsage, "found a change of packed block " + in_quotes(names_.at(id)) +
                                    ", expected sync() first");
  NMB_TRY(start_edit(id));
  return &state(id);
}

Result<BlockId> Writer::Impl::pack_block(PackedBlock packed) {
  if (!is_classic(packed.kind) && packed.kind != Kind::kExtended)
    return Status(Code::kUnsupported,
                  "found body kind " + std::to_string(static_cast<unsigned>(packed.kind)) +
                      " of block " + in_quotes(packed.name) + ", expected 1, 2, 5 or 6");
  std::uint64_t end = 0;
  for (const ByteRange& hole : packed.holes) {
    if (hole.begin < end || hole.end <= hole.begin || hole.end > packed.extent_length)
      return Status(Code::kUsage, "found holes that do not ascend within the extent of block " +
                                      in_quotes(packed.name));
    end = hole.end;
  }
  packed.holes = whole_windows(packed.holes, packed.extent_length, superblock_.piece_size);
  if (packed.holes == std::vector<ByteRange>{{0, packed.extent_length}}) packed.extent.reset();
  NMB_ASSIGN(BlockId id, define_block(packed.name));
  BlockState& block = state(id);
  block.metadata.reset();
  block.body_from = BodyFrom::kSource;
  block.kind = packed.kind;
  block.dimensions = packed.dimensions;
  block.variables = packed.variables;
  block.attributes = packed.attributes;
  block.records = packed.records;
  block.samples = packed.samples;
  block.extent_length = packed.extent_length;
  block.values = packed.extent && packed.extent_length > 0
                     ? ExtentOrigin(MovedValues({.source = packed.extent,
                                                 .origin = packed.origin,
                                                 .runs = {{0, 0, 0, 0, packed.extent_length, 1}},
                                                 .length = packed.extent_length,
                                                 .holes = packed.holes}))
                     : ExtentOrigin(NoValues());
  block.packed = std::make_unique<PackedBlock>(std::move(packed));
  block.packed->name.clear();
  return id;
}

Status Writer::Impl::take_pieces(BlockId id, std::vector<StoredPiece> pieces,
                                 std::shared_ptr<const ByteSource> stored) {
  NMB_TRY(failure_);
  NMB_TRY(check_id(id));
  if (!define_mode_) return wrong_mode();
  BlockState& block = state(id);
  if (block.written)
    return Status(Code::kUsage,
                  "found pieces of values, expected them for a new block, for block " +
                      in_quotes(names_.at(id)));
  NMB_ASSIGN(ReadyPieces ready, ReadyPieces::make(std::move(pieces), std::move(stored),
                                                  superblock_.piece_size, names_.at(id)));
  block.values = ExtentOrigin(std::move(ready));
  return {};
}

Status Writer::Impl::put_att(BlockId id, VarId variable, std::string_view name, Type type,
                             std::span<const std::byte> values) {
  NMB_ASSIGN(BlockState * block, defining(id));
  if (block->old) {
    NMB_TRY(check_new_name("attribute", name));
    const Metadata& before = block->old->metadata;
    if (name == "_FillValue" && variable < before.variable_count()) {
      // Holes read as the fill value: it cannot change under them.
      NMB_ASSIGN(VariableShape shape,
                 shape_of(before, block->old->layout, variable, block->old->records));
      std::uint64_t slice = before.slice_bytes(variable).value_or(0);
      const std::uint64_t slices = shape.record_size ? block->old->records : 1;
      for (std::uint64_t i = 0; i < slices; ++i) {
        const std::uint64_t begin = shape.begin + i * shape.record_size;
        std::uint64_t stored = 0;
        for (const Interval& part : block->old->extent->stored_in(begin, begin + slice))
          stored += part.end - part.begin;
        if (stored != slice)
          return Status(Code::kUsage, "found a change of _FillValue of " +
                                          in_quotes(before.variable(variable).name) +
                                          ", expected none while values are not written");
      }
    }
  }
  return block->metadata->put_attribute(variable, name, type, values);
}

Status Writer::Impl::remove_block(BlockId id) {
  NMB_TRY(failure_);
  NMB_TRY(check_id(id));
  if (!define_mode_) return wrong_mode();
  BlockState& block = state(id);
  if (block.committed) NMB_TRY(check_body_may_change(*core_, *block.committed));
  if (block.committed || block.values.extent() || block.old) {
    ExtentState* extent = block.old ? block.old->extent.get() : nullptr;
    if (!extent) extent = extent_of(id);
    NMB_TRY(keep(extent->resize(0, buffer_, *this)));
  }
  if (block.committed) {
    retire_header(id);
    removed_names_.insert(block.committed->name);
    dirty_.push_back(id);
  }
  names_.forget(id);
  block.removed = true;
  block.values = ExtentOrigin(NoValues());
  return {};
}

Status Writer::Impl::rename_block(BlockId id, std::string_view name) {
  NMB_TRY(failure_);
  NMB_TRY(check_id(id));
  if (!define_mode_) return wrong_mode();
  NMB_TRY(check_block_name(name));
  if (name == names_.at(id)) return {};
  NMB_ASSIGN(bool taken, exists(name));
  if (taken)
    return Status(Code::kExists,
                  "found a block " + in_quotes(name) + " already, expected a new name");
  BlockState& block = state(id);
  if (block.committed) NMB_TRY(check_body_may_change(*core_, *block.committed));
  if (block.body_from == BodyFrom::kCommitted) {
    // The body moves with the name, byte for byte.
    NMB_ASSIGN(StoredBlock stored, core_->load(*block.committed, false));
    extent_of(id);
    block.own_body = std::make_unique<std::vector<std::byte>>(std::move(stored.body));
    block.body_from = BodyFrom::kOwnBytes;
    retire_header(id);
    mark_pending(id);
  } else if (block.written) {
    mark_pending(id);
  }
  if (block.committed) {
    if (!block.renamed) removed_names_.insert(block.committed->name);
    block.renamed = true;
  }
  names_.forget(id);
  names_.rename(id, name);
  return {};
}

Status Writer::Impl::redefine() {
  std::uint64_t open = 0;
  NMB_TRY(together("redefine()", [&]() -> Status {
    if (define_mode_)
      return Status(Code::kUsage, "found redefine() in define mode, expected end_define() before");
    NMB_ASSIGN(open, ranks_.all_reduce<std::uint64_t>(requests_.size(), std::plus<>()));
    if (open != 0) return {};
    if (ranks_.size() > 1) {
      NMB_ASSIGN(const bool any, ranks_.all_reduce(!dirty_.empty(), std::logical_or<>()));
      if (any)
        return Status(Code::kUsage,
                      "found redefine() on several ranks before what was written is committed, "
                      "expected sync() first");
    }
    NMB_TRY(keep(place_values()));
    define_mode_ = true;
    return {};
  }));
  return check_none_open(open, "redefine()");
}

}  // namespace nmb

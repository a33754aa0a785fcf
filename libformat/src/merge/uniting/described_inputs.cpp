// Takes descriptions of inputs (see merge/uniting/described_inputs.h).
#include "merge/uniting/described_inputs.h"

#include <cstring>
#include <utility>

#include "format/table/kept_rows.h"
#include "merge/reading/held_values.h"
#include "merge/uniting/input_describer.h"
#include "nmb/classic.h"
#include "parallel/byte_changes.h"
#include "parallel/status_bytes.h"

namespace nmb {

namespace {

template <class T>
std::vector<T> numbers_in(std::span<const std::byte> bytes) {
  std::vector<T> all(bytes.size() / sizeof(T));
  if (!all.empty()) std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}

template <class T>
std::optional<T> get_optional(MessageReader* in) {
  return in->get<bool>() ? std::optional(in->get<T>()) : std::nullopt;
}

std::string get_text(MessageReader* in) { return std::string(in->get_text()); }

BlockFacts get_facts(MessageReader* in) {
  BlockFacts facts;
  facts.samples = get_optional<std::uint64_t>(in);
  facts.set_size = get_optional<std::int64_t>(in);
  facts.is_iceberg_set = in->get<bool>();
  facts.has_no_icebergs = in->get<bool>();
  return facts;
}

// But for values.
DescribedBlock::Parts get_parts(MessageReader* in) {
  DescribedBlock::Parts parts;
  parts.begins = numbers_in<std::uint64_t>(in->get_bytes());
  parts.record_size = in->get<std::uint64_t>();
  parts.records = in->get<std::uint64_t>();
  parts.has_default_fill = get_optional<bool>(in);
  parts.is_record_unused = in->get<bool>();
  parts.same_as = numbers_in<std::uint64_t>(in->get_bytes());
  parts.levels = numbers_in<std::uint32_t>(in->get_bytes());
  for (auto left = in->get<std::uint64_t>(); left > 0; --left) {
    Loss& loss = parts.losses.emplace_back();
    loss.object = in->get_text();
    loss.text = in->get_text();
  }
  for (auto left = in->get<std::uint64_t>(); left > 0; --left)
    parts.lost_fill_values.emplace_back(in->get_text());
  return parts;
}

HeldValues::Pieces get_pieces(MessageReader* in) {
  HeldValues::Pieces pieces;
  for (auto left = in->get<std::uint64_t>(); left > 0; --left) {
    const auto offset = in->get<std::uint64_t>();
    const auto bytes = in->get_bytes();
    pieces.emplace(offset, std::vector<std::byte>(bytes.begin(), bytes.end()));
  }
  return pieces;
}

InputExtras get_extras(MessageReader* in) {
  InputExtras extras;
  if (in->get<bool>()) extras.rows = std::make_shared<KeptRows>();
  extras.tagged = in->get<std::uint64_t>();
  extras.counted = in->get<std::uint64_t>();
  for (auto left = in->get<std::uint64_t>(); left > 0; --left) {
    PackLoss& loss = extras.losses.emplace_back();
    loss.object = in->get_text();
    loss.text = in->get_text();
    loss.kind = in->get<PackLoss::Kind>();
    loss.blocks = in->get<std::uint64_t>();
  }
  return extras;
}

}  // namespace

Status DescribedInputs::take(int rank, std::span<const std::byte> description) {
  Blocks& known = known_[rank];
  for (MessageReader in(description); !in.at_end();) {
    const auto index = static_cast<std::size_t>(in.get<std::uint64_t>());
    switch (in.get<DescribedAs>()) {
      case DescribedAs::kNotOpened:
        NMB_TRY(uses_.end({index, status_from(in.get_bytes())}));
        break;
      case DescribedAs::kNot:
        known.clear();
        NMB_TRY(uses_.read(index));
        break;
      case DescribedAs::kBlocks:
        NMB_TRY(take_input(index, &known, &in));
    }
  }
  return {};
}

Status DescribedInputs::take_input(std::size_t index, Blocks* known, MessageReader* in) {
  const auto stamp = in->get<FileStamp>();
  file_ = PooledFile::as_seen(options_.inputs[index], stamp, in->get<bool>(), from_.files);
  values_.reset();
  sent_files_.clear();
  conflicts_.begin_input(index);
  unions_.begin_input(file_);
  PlannedInput input;
  input.index = index;
  input.is_opened = true;
  // After a failure, nothing counts.
  Status& status = input.status;
  for (std::size_t blocks = 0;;) {
    switch (const auto event = in->get<DescribedEvent>()) {
      case DescribedEvent::kGroup: {
        const std::string group = get_text(in);
        if (status.ok()) uses_.note_group(group);
        break;
      }
      case DescribedEvent::kWarning: {
        std::string warning = get_text(in);
        if (status.ok()) report_.warnings.push_back(std::move(warning));
        break;
      }
      case DescribedEvent::kConflict: {
        const auto kind = in->get<ConflictKind>();
        std::string object = get_text(in), found = get_text(in), expected = get_text(in);
        if (status.ok())
          conflicts_.add(kind, std::move(object), std::move(found), std::move(expected));
        break;
      }
      case DescribedEvent::kWhole:
      case DescribedEvent::kPart: {
        Known none;
        if (blocks < kComparedBlocks && blocks == known->size()) known->emplace_back();
        Known& before = blocks < kComparedBlocks ? (*known)[blocks] : none;
        const Status taken = take_block(event == DescribedEvent::kWhole, status.ok(), &before, in);
        if (status.ok()) status = taken;
        ++blocks;
        break;
      }
      case DescribedEvent::kEnd: {
        const Status read = status_from(in->get_bytes());
        if (status.ok()) status = read;
        input.size = in->get<std::uint64_t>();
        for (auto left = in->get<std::uint64_t>(); left > 0; --left)
          input.provenance.emplace_back(in->get_text());
        input.extras = get_extras(in);
        return uses_.end(std::move(input));
      }
    }
  }
}

Status DescribedInputs::take_block(bool is_whole, bool is_wanted, Known* known, MessageReader* in) {
  if (get_changes(in, &known->header)) known->metadata.reset();
  get_changes(in, &known->rest);
  MessageReader rest(known->rest);
  BlockName name;
  name.name = rest.get_text();
  name.group = rest.get_text();
  name.has_input_name = rest.get<bool>();
  const BlockFacts facts = get_facts(&rest);
  const Status failure = status_from(rest.get_bytes());
  if (!failure.ok()) {
    if (!is_wanted) return {};
    return unions_.take_described(name, std::make_shared<DescribedBlock>(facts, failure));
  }
  if (!known->metadata) {
    NMB_ASSIGN(ClassicHeader header,
               decode_classic_header(MemorySource(known->header, file_->name()),
                                     {.values_follow = false}));
    known->metadata = std::make_shared<Metadata>(std::move(header.metadata));
  }
  DescribedBlock::Parts parts = get_parts(&rest);
  HeldValues::Pieces pieces = get_pieces(&rest);
  NMB_ASSIGN(parts.values, values_of(&rest));
  if (!pieces.empty())
    parts.values = std::make_shared<HeldValues>(std::move(parts.values), std::move(pieces));
  if (!is_wanted) return {};
  if (is_whole)
    return unions_.take_described(
        name, std::make_shared<DescribedBlock>(facts, known->metadata, std::move(parts)));
  return unions_.take_part(name, {*known->metadata, std::move(parts.begins), parts.record_size,
                                  parts.records, std::move(parts.values)});
}

Result<std::shared_ptr<const ByteSource>> DescribedInputs::values_of(MessageReader* in) {
  switch (in->get<DescribedValues>()) {
    case DescribedValues::kNone:
      return std::shared_ptr<const ByteSource>();
    case DescribedValues::kAsBefore:
      return values_;
    case DescribedValues::kFile: {
      const auto offset = in->get<std::uint64_t>(), size = in->get<std::uint64_t>();
      values_ = std::make_shared<RangeSource>(file_, offset, size);
      return values_;
    }
    case DescribedValues::kSent:
      break;
  }
  ReceivedFrom from = from_;
  from.known_files = &sent_files_;
  NMB_ASSIGN(values_, receive_values(in->get_bytes(), from));
  return values_;
}

}  // namespace nmb

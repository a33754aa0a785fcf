// Describes inputs (see merge/uniting/input_describer.h).
#include "merge/uniting/input_describer.h"

#include <algorithm>
#include <utility>

#include "merge/reading/held_values.h"
#include "merge/uniting/sent_values.h"
#include "nmb/classic.h"
#include "parallel/byte_changes.h"
#include "parallel/status_bytes.h"

namespace nmb {

namespace {

// Encodes definitions as a header of CDF-5; its begins have no meaning. Errors: kUnsupported,
// kLimit.
Result<std::vector<std::byte>> header_of(const Metadata& metadata) {
  Metadata plain = metadata;
  plain.set_extension(nullptr);
  NMB_ASSIGN(const ClassicLayout layout, layout_classic(plain, Kind::kCdf5));
  std::vector<std::byte> header;
  header.reserve(layout.header_length);
  NMB_TRY(encode_classic_header(plain, Kind::kCdf5, 0, [&](std::span<const std::byte> bytes) {
    header.insert(header.end(), bytes.begin(), bytes.end());
    return Status();
  }));
  return header;
}

void put_name(const BlockName& name, MessageWriter* out) {
  out->put_text(name.name);
  out->put_text(name.group);
  out->put(name.has_input_name);
}

template <class T>
void put_optional(const std::optional<T>& value, MessageWriter* out) {
  out->put(value.has_value());
  if (value) out->put(*value);
}

void put_facts(const BlockFacts& facts, MessageWriter* out) {
  put_optional(facts.samples, out);
  put_optional(facts.set_size, out);
  out->put(facts.is_iceberg_set);
  out->put(facts.has_no_icebergs);
}

void put_extras(const InputExtras& extras, MessageWriter* out) {
  out->put(extras.rows != nullptr);
  out->put(extras.tagged);
  out->put(extras.counted);
  out->put<std::uint64_t>(extras.losses.size());
  for (const PackLoss& loss : extras.losses) {
    out->put_text(loss.object);
    out->put_text(loss.text);
    out->put(loss.kind);
    out->put(loss.blocks);
  }
}

}  // namespace

void InputDescriber::begin() {
  file_.reset();
  values_.reset();
  blocks_ = 0;
  is_left_ = false;
  warnings_ = report_.warnings.size();
}

void InputDescriber::begin_input(std::shared_ptr<const ByteSource> file) {
  file_ = std::move(file);
}

// Adds the messages since the last event.
void InputDescriber::tell_messages() {
  for (std::size_t i = warnings_; i < report_.warnings.size(); ++i) {
    input_.put(DescribedEvent::kWarning);
    input_.put_text(report_.warnings[i]);
  }
  report_.warnings.resize(warnings_);
  for (const FoundConflict& found : conflicts_.take()) {
    input_.put(DescribedEvent::kConflict);
    input_.put(found.conflict.kind);
    for (const std::string* text :
         {&found.conflict.object, &found.conflict.found, &found.conflict.expected})
      input_.put_text(*text);
  }
}

void InputDescriber::note_group(const std::string& group) {
  tell_messages();
  input_.put(DescribedEvent::kGroup);
  input_.put_text(group);
}

void InputDescriber::put(DescribedEvent event, std::span<const std::byte> header,
                         std::span<const std::byte> rest) {
  tell_messages();
  input_.put(event);
  Known none;
  if (blocks_ < kComparedBlocks && blocks_ == known_.size()) known_.emplace_back();
  Known& known = blocks_ < kComparedBlocks ? known_[blocks_] : none;
  put_changes(header, &known.header, &input_);
  put_changes(rest, &known.rest, &input_);
  ++blocks_;
}

// Fails if the values cannot be described.
Status InputDescriber::put_values(const std::shared_ptr<const ByteSource>& values,
                                  MessageWriter* rest) {
  if (!values) {
    rest->put(DescribedValues::kNone);
    return {};
  }
  if (values == std::exchange(values_, values)) {
    rest->put(DescribedValues::kAsBefore);
    return {};
  }
  if (const auto* range = dynamic_cast<const RangeSource*>(values.get());
      range && range->base() == file_) {
    rest->put(DescribedValues::kFile);
    rest->put(range->offset());
    rest->put(range->size());
    return {};
  }
  NMB_ASSIGN(const auto sent, send_values(*values, {0, values->size()}));
  if (!sent || sent->size() > sent_room_)
    return Status(Code::kUnsupported, "found values of more bytes than are sent");
  sent_room_ -= sent->size();
  rest->put(DescribedValues::kSent);
  rest->put_bytes(*sent);
  return {};
}

Status InputDescriber::put_block(DescribedEvent event, const BlockName& name,
                                 const BlockFacts& facts, const UnionBlock& block) {
  const DatasetUnion::Member& member = block.member;
  NMB_ASSIGN(const std::vector<std::byte> header, header_of(member.metadata));
  MessageWriter rest;
  put_name(name, &rest);
  put_facts(facts, &rest);
  rest.put_bytes(status_bytes({}));
  rest.put_bytes(std::as_bytes(std::span(member.begins)));
  rest.put(member.record_size);
  rest.put(member.records);
  put_optional(member.has_default_fill, &rest);
  rest.put(member.is_record_unused);
  std::vector<std::uint64_t> same;
  if (event == DescribedEvent::kWhole)
    same = firsts_.same_as(name.name, conflicts_.here().input, member);
  rest.put_bytes(std::as_bytes(std::span(same)));
  rest.put_bytes(std::as_bytes(std::span(block.levels)));
  rest.put<std::uint64_t>(block.losses.size());
  for (const Loss& loss : block.losses) {
    rest.put_text(loss.object);
    rest.put_text(loss.text);
  }
  rest.put<std::uint64_t>(block.lost_fill_values.size());
  for (const std::string& variable : block.lost_fill_values) rest.put_text(variable);
  const auto* const held = dynamic_cast<const HeldValues*>(member.values.get());
  rest.put<std::uint64_t>(held ? held->pieces().size() : 0);
  if (held)
    for (const auto& [offset, bytes] : held->pieces()) {
      rest.put(offset);
      rest.put_bytes(bytes);
    }
  NMB_TRY(put_values(held ? held->base() : member.values, &rest));
  put(event, header, rest.take());
  return {};
}

Status InputDescriber::take_whole(const BlockName& name, InputBlock& block) {
  if (is_left_) return {};
  const BlockFacts facts = facts_of(block, options_);
  Status put_all;
  const Status status =
      visit_union_block(block, options_, views_, &held_room_, [&](const UnionBlock& united) {
        put_all = put_block(DescribedEvent::kWhole, name, facts, united);
        return Status();
      });
  if (!status.ok()) {
    // Used if another input has the block.
    MessageWriter rest;
    put_name(name, &rest);
    put_facts(facts, &rest);
    rest.put_bytes(status_bytes(status));
    put(DescribedEvent::kWhole, {}, rest.take());
  }
  is_left_ = !put_all.ok();
  return {};
}

Status InputDescriber::take_part(const BlockName& name, BlockPart part) {
  if (is_left_) return {};
  const UnionBlock block{{part.metadata, std::move(part.begins), part.record_size, part.records,
                          std::move(part.values)}};
  is_left_ = !put_block(DescribedEvent::kPart, name, {}, block).ok();
  return {};
}

void InputDescriber::leave(std::size_t index) {
  // Both sides forget the values with which they would compare.
  known_.clear();
  out_.put<std::uint64_t>(index);
  out_.put(DescribedAs::kNot);
}

void InputDescriber::end(const PlannedInput& input) {
  tell_messages();
  MessageWriter events = std::exchange(input_, {});
  if (is_left_) {
    leaves_values_ = true;
    return leave(input.index);
  }
  out_.put<std::uint64_t>(input.index);
  out_.put(input.is_opened ? DescribedAs::kBlocks : DescribedAs::kNotOpened);
  if (!input.is_opened) return out_.put_bytes(status_bytes(input.status));
  const auto& file = static_cast<const PooledFile&>(*file_);
  out_.put(file.stamp());
  out_.put(file.may_be_sparse());
  events.put(DescribedEvent::kEnd);
  events.put_bytes(status_bytes(input.status));
  events.put(input.size);
  events.put<std::uint64_t>(input.provenance.size());
  for (const std::string& text : input.provenance) events.put_text(text);
  put_extras(input.extras, &events);
  out_.put_raw(events.take());
}

}  // namespace nmb

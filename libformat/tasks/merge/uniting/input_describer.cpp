#include "merge/uniting/input_describer.h"

#include <utility>

#include "merge/uniting/described_fields.h"
#include "model/header_bytes.h"
#include "parallel/byte_changes.h"
#include "sources/value_message.h"
#include "sources/value_source.h"

namespace nmb {

namespace {

// Encodes definitions as a CDF-5 header. The offsets of variables in this header have no meaning.
// Errors: kUnsupported, kLimit.
Result<std::vector<std::byte>> header_of(const Metadata& metadata) {
  Metadata plain = metadata;
  plain.set_extension(nullptr);
  NMB_TRY(layout_classic(plain, Kind::kCdf5).status());
  return header_bytes(plain, Kind::kCdf5, 0);
}

}  // namespace

void InputDescriber::begin() {
  file_.reset();
  values_.reset();
  blocks_ = 0;
  is_left_ = false;
  warnings_ = report_.warnings.size();
}

void InputDescriber::begin_input(Source file) {
  selections_.clear();
  file_ = std::move(file);
}

// Adds the messages that were reported since the last event.
void InputDescriber::add_messages() {
  for (std::size_t i = warnings_; i < report_.warnings.size(); ++i)
    input_(DescribedEvent::kWarning, report_.warnings[i]);
  report_.warnings.resize(warnings_);
  for (const auto& [occurrence, conflict] : conflicts_.take())
    input_(DescribedEvent::kConflict, conflict.kind, conflict.object, conflict.found,
           conflict.expected);
}

void InputDescriber::note_group(const std::string& group) {
  add_messages();
  input_(DescribedEvent::kGroup, group);
}

void InputDescriber::put(DescribedEvent event, std::span<const std::byte> header,
                         std::span<const std::byte> rest) {
  add_messages();
  SentDescription none;
  if (blocks_ < kComparedBlocks && blocks_ == known_.size()) known_.emplace_back();
  SentDescription& known = blocks_ < kComparedBlocks ? known_[blocks_] : none;
  input_(event, take_changes(header, &known.header), take_changes(rest, &known.rest));
  ++blocks_;
}

// Describes the values. Errors: kUnsupported if the values cannot be described; kIo and kDamaged if
// they cannot be read.
Status InputDescriber::put_values(const Source& values, FieldsOut* rest) {
  if (!values) {
    (*rest)(DescribedValues::kNone);
    return {};
  }
  if (values == std::exchange(values_, values)) {
    (*rest)(DescribedValues::kAsBefore);
    return {};
  }
  if (const auto* run = form_of<form::Slice>(values.get()); run && run->base == file_) {
    (*rest)(DescribedValues::kFile, run->offset, run->bytes);
    return {};
  }
  NMB_ASSIGN(const auto sent, send_values(*values, {0, values->size()}));
  if (!sent || sent->size() > sent_budget_)
    return Status(Code::kUnsupported, "the values have more bytes than can be sent");
  sent_budget_ -= sent->size();
  (*rest)(DescribedValues::kSent, *sent);
  return {};
}

Status InputDescriber::put_block(DescribedEvent event, const OutputName& name,
                                 const InputFacts& facts, const UnionInput& block) {
  const DatasetUnion::Member& member = block.member;
  NMB_ASSIGN(const std::vector<std::byte> header, header_of(member.metadata));
  std::vector<std::uint64_t> same_as;
  if (event == DescribedEvent::kWhole)
    same_as = firsts_.same_as(name.name, conflicts_.here().input, member);
  const auto* const held = form_of<form::Held>(member.values.get());
  FieldsOut rest;
  rest(name, facts, Status(), block, same_as, held ? held->pieces : form::Held::Pieces());
  NMB_TRY(put_values(held ? held->base : member.values, &rest));
  put(event, header, rest.take());
  return {};
}

Status InputDescriber::take_whole(const OutputName& name, InputBlock& block) {
  if (is_left_) return {};
  const InputFacts facts = facts_of(block, options_);
  Status put_all;
  const Status status = visit_union_input(
      block, name, options_, views_, &held_budget_, &selections_, [&](const UnionInput& united) {
        put_all = put_block(DescribedEvent::kWhole, name, facts, united);
        return Status();
      });
  if (!status.ok()) {
    // The other rank reports this error only if another input has the block.
    FieldsOut rest;
    rest(name, facts, status);
    put(DescribedEvent::kWhole, {}, rest.take());
  }
  is_left_ = !put_all.ok();
  return {};
}

Status InputDescriber::take_part(const OutputName& name, InputPart part) {
  if (is_left_) return {};
  const UnionInput block{{part.metadata, std::move(part.begins), part.record_size, part.records,
                          std::move(part.values)}};
  is_left_ = !put_block(DescribedEvent::kPart, name, {}, block).ok();
  return {};
}

void InputDescriber::leave(std::size_t index) {
  // The sender and the receiver both forget the blocks of the previous input, so the next input is
  // not compared with them.
  known_.clear();
  out_(std::uint64_t{index}, DescribedAs::kNot);
}

void InputDescriber::end(const InputOutcome& input) {
  add_messages();
  FieldsOut events = std::exchange(input_, {});
  if (is_left_) {
    leaves_values_ = true;
    return leave(input.index);
  }
  out_(std::uint64_t{input.index},
       input.is_opened ? DescribedAs::kBlocks : DescribedAs::kNotOpened);
  if (!input.is_opened) return out_(input.status);
  const auto& file = static_cast<const PooledFile&>(*file_);
  events(DescribedEvent::kEnd, input.status, input.size, input.extras);
  out_(file.stamp(), file.may_be_sparse(), events.take());
}

}  // namespace nmb

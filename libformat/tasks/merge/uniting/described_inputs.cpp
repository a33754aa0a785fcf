#include "merge/uniting/described_inputs.h"

#include <utility>

#include "merge/uniting/described_fields.h"
#include "merge/uniting/input_describer.h"
#include "model/classic.h"
#include "parallel/byte_changes.h"
#include "sources/value_source.h"

namespace nmb {

Status DescribedInputs::take(int rank, std::span<const std::byte> description) {
  KnownInput& known = known_[rank];
  FieldsIn in(description);
  while (!in.at_end()) {
    const auto index = static_cast<std::size_t>(in.next<std::uint64_t>());
    const auto described = in.next<DescribedAs>();
    if (index >= options_.inputs.size()) in.fail();
    NMB_TRY(in.status());
    switch (described) {
      case DescribedAs::kNotOpened: {
        const auto status = in.next<Status>();
        NMB_TRY(in.status());
        NMB_TRY(uses_.end({index, status}));
        break;
      }
      case DescribedAs::kNot:
        known.clear();
        NMB_TRY(uses_.read(index));
        break;
      case DescribedAs::kBlocks:
        NMB_TRY(take_input(index, &known, &in));
    }
  }
  return in.status();
}

Status DescribedInputs::take_input(std::size_t index, KnownInput* known, FieldsIn* message) {
  const auto [stamp, may_be_sparse] = message->next<std::pair<FileStamp, bool>>();
  FieldsIn in(message->next<std::span<const std::byte>>());
  file_ = PooledFile::as_seen(options_.inputs[index], stamp, may_be_sparse, from_.files);
  values_.reset();
  sent_files_.clear();
  conflicts_.begin_input(index);
  unions_.begin_input(file_);
  InputOutcome input;
  input.index = index;
  input.is_opened = true;
  // After an error, the remaining events of the input are ignored.
  Status& status = input.status;
  for (std::size_t blocks = 0;;) {
    const auto event = in.next<DescribedEvent>();
    NMB_TRY(in.status());
    switch (event) {
      case DescribedEvent::kGroup: {
        const std::string group = in.next<std::string>();
        if (status.ok()) uses_.note_group(group);
        break;
      }
      case DescribedEvent::kWarning: {
        std::string warning = in.next<std::string>();
        if (status.ok()) report_.warnings.push_back(std::move(warning));
        break;
      }
      case DescribedEvent::kConflict: {
        PackConflict conflict;
        in(conflict.kind, conflict.object, conflict.found, conflict.expected);
        if (status.ok())
          conflicts_.add(conflict.kind, std::move(conflict.object), std::move(conflict.found),
                         std::move(conflict.expected));
        break;
      }
      case DescribedEvent::kWhole:
      case DescribedEvent::kPart: {
        PreviousDescription none;
        if (blocks < kComparedBlocks && blocks == known->size()) known->emplace_back();
        PreviousDescription& before = blocks < kComparedBlocks ? (*known)[blocks] : none;
        const Status taken = take_block(event == DescribedEvent::kWhole, status.ok(), &before, &in);
        if (status.ok()) status = taken;
        ++blocks;
        break;
      }
      case DescribedEvent::kEnd: {
        const Status read = in.next<Status>();
        if (status.ok()) status = read;
        in(input.size, input.extras);
        NMB_TRY(in.status());
        return uses_.end(std::move(input));
      }
    }
  }
}

Status DescribedInputs::take_block(bool is_whole, bool is_wanted, PreviousDescription* known,
                                   FieldsIn* in) {
  const auto changes = in->next<ByteChanges>();
  if (changes.kind != ByteChanges::Kind::kNone) known->metadata.reset();
  NMB_TRY(apply_changes(changes, &known->header));
  NMB_TRY(apply_changes(in->next<ByteChanges>(), &known->rest));
  FieldsIn rest(known->rest);
  const auto name = rest.next<OutputName>();
  const auto facts = rest.next<InputFacts>();
  const auto failure = rest.next<Status>();
  if (!failure.ok()) {
    if (!is_wanted) return {};
    return unions_.take_described(
        name, std::make_shared<UnionDescription>(UnionDescription{facts, failure}));
  }
  if (!known->metadata) {
    NMB_ASSIGN(ClassicHeader header,
               decode_classic_header(MemorySource(known->header, file_->name()),
                                     {.values_follow = false}));
    known->metadata = std::make_shared<Metadata>(std::move(header.metadata));
  }
  UnionInput block{{*known->metadata, {}}};
  std::vector<std::uint64_t> same_as;
  form::Held::Pieces pieces;
  rest(block, same_as, pieces);
  NMB_TRY(rest.status());
  DatasetUnion::Member& member = block.member;
  NMB_ASSIGN(member.values, values_of(&rest));
  if (!pieces.empty())
    member.values = source_of(form::Held{std::move(member.values), std::move(pieces)});
  if (!is_wanted) return {};
  if (is_whole)
    return unions_.take_described(
        name, std::make_shared<UnionDescription>(UnionDescription{
                  facts, {}, known->metadata, std::move(block), std::move(same_as)}));
  return unions_.take_part(name, {member.metadata, std::move(member.begins), member.record_size,
                                  member.records, std::move(member.values)});
}

Result<Source> DescribedInputs::values_of(FieldsIn* in) {
  switch (in->next<DescribedValues>()) {
    case DescribedValues::kNone:
      return Source();
    case DescribedValues::kAsBefore:
      return values_;
    case DescribedValues::kFile: {
      const auto [offset, size] = in->next<std::pair<std::uint64_t, std::uint64_t>>();
      values_ = run_of(file_, offset, size);
      return values_;
    }
    case DescribedValues::kSent:
      break;
  }
  ReceivedFrom from = from_;
  from.known_files = &sent_files_;
  NMB_ASSIGN(values_, receive_values(in->next<std::span<const std::byte>>(), from));
  return values_;
}

}  // namespace nmb

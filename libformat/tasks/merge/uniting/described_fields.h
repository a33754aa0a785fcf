// The fields of input descriptions in messages (parallel/message_fields.h). The sending and the
// receiving rank both use these functions.
#pragma once

#include <memory>

#include "merge/reading/input_extras.h"
#include "merge/reading/merge_sink.h"
#include "merge/uniting/union_input.h"
#include "model/extension_codec.h"
#include "netcdf/netcdf_view.h"
#include "parallel/message_fields.h"
#include "table/kept_rows.h"

namespace nmb {

template <class Fields>
void fields(Fields& all, Loss& loss) {
  all(loss.object, loss.text);
}

template <class Fields>
void fields(Fields& all, OutputName& name) {
  all(name.name, name.group, name.has_input_name);
}

template <class Fields>
void fields(Fields& all, InputFacts& facts) {
  all(facts.samples, facts.set_size, facts.is_iceberg_set, facts.has_no_icebergs, facts.is_classic,
      facts.has_along, facts.has_unlimited);
}

template <class Fields>
void fields(Fields& all, TypeTable& types) {
  std::vector<std::byte> bytes;
  if constexpr (!Fields::kReceives) append_types(types, &bytes);
  all(bytes);
  if constexpr (Fields::kReceives) {
    Result<TypeTable> decoded = decode_types(bytes);
    if (decoded.ok())
      types = *std::move(decoded);
    else
      all.fail();
  }
}

template <class Fields>
void fields(Fields& all, ClassicView::OwnValues& own) {
  all(own.variable, own.types, own.fill, own.heap);
}

template <class Fields>
void fields(Fields& all, ClassicView::OwnAttribute& attribute) {
  all(attribute.owner, attribute.name);
}

template <class Fields>
void fields(Fields& all, AttributeForm& form) {
  all(form.owner, form.name, form.types, form.is_scalar);
}

// All fields except the definitions, the values and Member::same_as.
template <class Fields>
void fields(Fields& all, UnionInput& block) {
  DatasetUnion::Member& member = block.member;
  all(member.begins, member.record_size, member.records, member.has_default_fill,
      member.is_record_unused, member.is_classic_model, member.growing, member.made_up,
      member.empty, member.own, member.own_attributes, member.attribute_forms, member.named_types,
      member.selected, block.levels, block.losses, block.lost_fill_values, block.is_outside,
      block.has_wanted, block.used);
}

// The rows are not sent. Only a flag is sent, which says whether there are rows.
template <class Fields>
void fields(Fields& all, InputExtras& extras) {
  bool has_rows = extras.rows != nullptr;
  all(extras.provenance, has_rows, extras.tagged, extras.counted, extras.losses);
  if (has_rows && !extras.rows) extras.rows = std::make_shared<KeptRows>();
}

}  // namespace nmb

// The fields of index rows in messages between ranks (parallel/message_fields.h).
#pragma once

#include "index/entry_codec.h"
#include "parallel/message_fields.h"
#include "wire/block_entry.h"

namespace nmb {

template <class Fields>
void fields(Fields& all, BlockEntry& entry) {
  all(entry.name);
  for_each_field(entry, [&](Column, auto& field) {
    using Field = std::decay_t<decltype(field)>;
    if constexpr (std::is_integral_v<Field>) {
      all.small(field);
    } else if constexpr (std::is_same_v<Field, Place>) {
      all.small(field.position, field.length, field.sum);
    } else if constexpr (std::is_same_v<Field, FileDigests>) {
      bool any = field != FileDigests();
      all(any);
      if (any) all(field);
    } else {
      all(field);
    }
  });
}

template <class Fields>
void fields(Fields& all, ChildRow& child) {
  all(child.separator, child.position, child.length, child.sum, child.holds, child.unknown);
}

}  // namespace nmb

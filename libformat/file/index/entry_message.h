// Writes and reads rows of the index in messages between ranks.
#pragma once

#include "index/entry_codec.h"
#include "nmb/block_entry.h"
#include "parallel/message_codec.h"

namespace nmb {

inline void put_row(MessageWriter& out, const BlockEntry& entry) {
  out.put_text(entry.name);
  for_each_field(entry, [&](Column, const auto& field) {
    using Field = std::decay_t<decltype(field)>;
    if constexpr (std::is_integral_v<Field>) {
      out.put_small(field);
    } else if constexpr (std::is_same_v<Field, Place>) {
      out.put_small(field.position), out.put_small(field.length), out.put_small(field.sum);
    } else if constexpr (std::is_same_v<Field, FileDigests>) {
      const bool any = field != FileDigests();
      out.put(any);
      if (any) out.put(field);
    } else {
      out.put(field);
    }
  });
}
inline void get_row(MessageReader& in, BlockEntry* entry) {
  entry->name = in.get_text();
  for_each_field(*entry, [&](Column, auto& field) {
    using Field = std::decay_t<decltype(field)>;
    if constexpr (std::is_integral_v<Field>) {
      field = static_cast<Field>(in.get_small());
    } else if constexpr (std::is_same_v<Field, Place>) {
      field.position = in.get_small(), field.length = in.get_small(), field.sum = in.get_small();
    } else if constexpr (std::is_same_v<Field, FileDigests>) {
      if (in.get<bool>()) field = in.get<FileDigests>();
    } else {
      field = in.get<Field>();
    }
  });
}

inline void put_row(MessageWriter& out, const ChildRow& child) {
  out.put_text(child.separator);
  out.put(child.position), out.put(child.length), out.put(child.sum), out.put(child.holds);
}
inline void get_row(MessageReader& in, ChildRow* child) {
  child->separator = in.get_text();
  child->position = in.get<std::uint64_t>();
  child->length = in.get<std::uint32_t>();
  child->sum = in.get<std::uint64_t>();
  child->holds = in.get<Holdings>();
}

}  // namespace nmb

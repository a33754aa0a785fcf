// Encodes and decodes fields in messages between ranks. A function lists the fields of a struct
// once, and both the sender and the receiver use it:
//
//   template <class Fields>
//   void fields(Fields& all, Point& point) { all(point.x, point.y, point.name); }
//
// A field can be a number or other plain data, a text, a status, or a struct with such a function.
// A field can also be a list, a map or an optional value of these. The receiver gets a field that
// is a span of bytes as a view of the message.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "parallel/message_codec.h"
#include "parallel/status_bytes.h"

namespace nmb {

template <class Fields, class First, class Second>
void fields(Fields& all, std::pair<First, Second>& pair) {
  all(pair.first, pair.second);
}

class FieldsOut : public MessageWriter {
 public:
  template <class... T>
  void operator()(const T&... values) {
    (add(values), ...);
  }

 private:
  template <class T>
  void add(const T& value) {
    if constexpr (std::is_convertible_v<const T&, std::string_view>)
      put_text(value);
    else if constexpr (std::is_trivially_copyable_v<T>)
      put(value);
    else
      fields(*this, const_cast<T&>(value));  // fields() only reads the value here
  }
  void add(const std::span<const std::byte>& bytes) { put_bytes(bytes); }
  void add(const Status& status) { put_bytes(status_bytes(status)); }
  template <class T>
  void add(const std::optional<T>& value) {
    put(value.has_value());
    if (value) add(*value);
  }
  template <class T>
  void add(const std::vector<T>& list) {
    if constexpr (std::is_trivially_copyable_v<T>)
      put_list(std::span(list));
    else
      add_each(list);
  }
  template <class Key, class T>
  void add(const std::map<Key, T>& map) {
    add_each(map);
  }
  template <class List>
  void add_each(const List& list) {
    put<std::uint64_t>(list.size());
    for (const auto& one : list) add(one);
  }
};

class FieldsIn : public MessageReader {
 public:
  using MessageReader::MessageReader;

  template <class... T>
  void operator()(T&... values) {
    (take(values), ...);
  }
  template <class T>
  T next() {
    T value{};
    take(value);
    return value;
  }

 private:
  template <class T>
  void take(T& value) {
    if constexpr (std::is_trivially_copyable_v<T>)
      value = get<T>();
    else
      fields(*this, value);
  }
  void take(std::span<const std::byte>& bytes) { bytes = get_bytes(); }
  void take(std::string& text) { text = get_text(); }
  void take(Status& status) { status = status_from(get_bytes()); }
  template <class T>
  void take(std::optional<T>& value) {
    value = get<bool>() ? std::optional(next<T>()) : std::nullopt;
  }
  template <class T>
  void take(std::vector<T>& list) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      list = get_list<T>();
    } else {
      list.resize(get<std::uint64_t>());
      for (T& one : list) take(one);
    }
  }
  template <class Key, class T>
  void take(std::map<Key, T>& map) {
    for (auto left = get<std::uint64_t>(); left > 0; --left) map.insert(next<std::pair<Key, T>>());
  }
};

}  // namespace nmb

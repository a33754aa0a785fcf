// Encodes and decodes fields in messages between ranks, and between the library and the process
// nmb-hdf5. A function lists the fields of a struct once, and both the sender and the receiver use
// it:
//
//   template <class Fields>
//   void fields(Fields& all, Point& point) {
//     all(point.x, point.y, point.name);
//     all.small(point.count);  // a number that has few bytes in the message if it is small
//   }
//
// A field can be a number or other plain data, a text, a status, or a struct with such a function.
// It can also be a list, a map, a pair, a variant or an optional value of these, or a
// std::shared_ptr to a const value. A std::string_view or a span of bytes becomes a view of the
// message when it is received. fields() must be declared directly after its struct; a struct
// without fields() must be plain data without pointers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "parallel/message_codec.h"
#include "wire/failure.h"

namespace nmb {

template <class Fields, class First, class Second>
void fields(Fields& all, std::pair<First, Second>& pair) {
  all(pair.first, pair.second);
}

template <class Fields>
void fields(Fields& all, Status& status) {
  Code code = status.code();
  std::uint64_t offset = status.offset();
  std::string file, rule, message;
  if constexpr (!Fields::kReceives)
    file = status.file(), rule = status.rule(), message = status.message();
  int rank = status.rank();
  all.choice(code, Code::kBusy);
  all(offset, file, rule, message, rank);
  if constexpr (Fields::kReceives)
    status = code == Code::kOk
                 ? Status()
                 : Status(code, std::move(file), offset, std::move(rule), std::move(message), rank);
}

// Whether there is a function fields() for a struct.
template <class T, class Fields>
concept HasFields = requires(Fields& all, T& value) {
  fields(all, value);
};

// Whether a message holds the bytes of the value itself. For a view, it holds the bytes to which
// the view refers.
template <class T>
inline constexpr bool kIsPlain = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> &&
                                 !std::is_convertible_v<T, std::string_view>;
template <class T>
inline constexpr bool kIsPlain<std::span<T>> = false;

// Self: the class that fields() gets. A class that is derived from FieldsOutOf<Self> may have
// further functions for fields() to call.
template <class Self>
class FieldsOutOf : public MessageWriter {
 public:
  static constexpr bool kReceives = false;

  template <class... T>
  void operator()(const T&... values) {
    (add(values), ...);
  }
  template <class... T>
  void small(const T&... numbers) {
    (put_small(static_cast<std::uint64_t>(numbers)), ...);
  }
  // An enumerator from 0 to `last`.
  template <class E>
  void choice(const E& value, E /*last*/) {
    put(value);
  }

 private:
  template <class T>
  void add(const T& value) {
    if constexpr (HasFields<T, Self>) {
      fields(static_cast<Self&>(*this), const_cast<T&>(value));  // fields() only reads the value
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      put_text(value);
    } else if constexpr (!std::is_pointer_v<T> && requires { *value; }) {  // an optional value
      put(static_cast<bool>(value));
      if (value) add(*value);
    } else {
      static_assert(kIsPlain<T>);
      put(value);
    }
  }
  void add(const std::span<const std::byte>& bytes) { put_bytes(bytes); }
  template <class... T>
  void add(const std::variant<T...>& value) {
    put(static_cast<std::uint8_t>(value.index()));
    std::visit([&](const auto& held) { add(held); }, value);
  }
  template <class T>
  void add(const std::vector<T>& list) {
    if constexpr (!HasFields<T, Self> && kIsPlain<T>)
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
    put_small(list.size());
    for (const auto& one : list) add(one);
  }
};

class FieldsOut : public FieldsOutOf<FieldsOut> {};

template <class Self>
class FieldsInOf : public MessageReader {
 public:
  static constexpr bool kReceives = true;
  using MessageReader::MessageReader;

  template <class... T>
  void operator()(T&... values) {
    (take(values), ...);
  }
  template <class... T>
  void small(T&... numbers) {
    ((numbers = static_cast<T>(get_small())), ...);
  }
  template <class E>
  void choice(E& value, E last) {
    value = get<E>();
    if (static_cast<std::uint64_t>(value) <= static_cast<std::uint64_t>(last)) return;
    value = E{};
    fail();
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
    if constexpr (HasFields<T, Self>) {
      fields(static_cast<Self&>(*this), value);
    } else {
      static_assert(kIsPlain<T>);
      value = get<T>();
    }
  }
  void take(std::span<const std::byte>& bytes) { bytes = get_bytes(); }
  void take(std::string_view& text) { text = get_text(); }
  void take(std::string& text) { text = get_text(); }
  template <class T>
  void take(std::optional<T>& value) {
    value = get<bool>() ? std::optional(next<T>()) : std::nullopt;
  }
  template <class T>
  void take(std::shared_ptr<const T>& value) {
    if constexpr (HasFields<std::shared_ptr<const T>, Self>)
      fields(static_cast<Self&>(*this), value);
    else
      value = get<bool>() ? std::make_shared<const T>(next<T>()) : nullptr;
  }
  template <class... T>
  void take(std::variant<T...>& value) {
    const auto index = get<std::uint8_t>();
    std::uint8_t type = 0;
    ((type++ == index ? void(value.template emplace<T>(next<T>())) : void()), ...);
    if (index >= type) fail();
  }
  template <class T>
  void take(std::vector<T>& list) {
    if constexpr (!HasFields<T, Self> && kIsPlain<T>) {
      list = get_list<T>();
    } else {
      list.resize(get_count());
      for (T& one : list) take(one);
    }
  }
  template <class Key, class T>
  void take(std::map<Key, T>& map) {
    for (auto left = get_count(); left > 0; --left) map.insert(next<std::pair<Key, T>>());
  }
};

class FieldsIn : public FieldsInOf<FieldsIn> {
 public:
  using FieldsInOf::FieldsInOf;
};

// Encodes a value as a separate message.
template <class T>
std::vector<std::byte> bytes_of_fields(const T& value) {
  FieldsOut out;
  out(value);
  return out.take();
}

// Encodes a value like bytes_of_fields(), for messages that travel as a text.
template <class T>
std::string text_of_fields(const T& value) {
  const std::vector<std::byte> bytes = bytes_of_fields(value);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Decodes a message of bytes_of_fields(). Errors: kDamaged if the bytes are not such a message.
template <class T>
Status take_fields(std::span<const std::byte> bytes, T* value) {
  FieldsIn in(bytes);
  in(*value);
  if (!in.at_end()) in.fail();
  return in.status();
}

}  // namespace nmb

// Encodes and decodes structs as JSON objects, in the journals of --resume and in messages between
// ranks. A function lists the fields of a struct once, for both directions:
//
//   template <class Fields>
//   void fields(Fields& all, Point& point) {
//     all("x", point.x);
//     all.if_any("name", point.name);  // optional: the object lacks the key without a value
//   }
//
// A field is a number, a text, a Status, a struct with such a function, or a list or an optional of
// one of these types.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/printing/json_document.h"
#include "model/text.h"
#include "wire/failure.h"

namespace nmb::tools {

// How texts, which may have any bytes, are stored.
enum class JsonBytes : std::uint8_t {
  kEscaped,  // in the form of json_text()
  kRaw,      // unchanged, for MessagePack
};

template <class T, class Fields>
concept HasJsonFields = requires(Fields& all, T& value) {
  fields(all, value);
};

class JsonOut {
 public:
  static constexpr bool kReceives = false;

  explicit JsonOut(JsonBytes bytes) : bytes_(bytes) {}
  template <class T>
  void operator()(const char* key, const T& value) {
    json_[key] = of(value);
  }
  template <class T>
  void if_any(const char* key, const std::optional<T>& value) {
    if (value) json_[key] = of(*value);
  }
  template <class T>
  Json of(const T& value) const {
    if constexpr (std::is_same_v<T, std::string>) {
      return bytes_ == JsonBytes::kRaw ? value : json_text(value);
    } else if constexpr (HasJsonFields<T, JsonOut>) {
      JsonOut inner(bytes_);
      fields(inner, const_cast<T&>(value));  // fields() only reads the value here
      return std::move(inner.json_);
    } else {
      return value;
    }
  }

 private:
  Json of(const Status& status) const {
    return {static_cast<int>(status.code()), of(status.text())};
  }
  template <class T>
  Json of(const std::optional<T>& value) const {
    return value ? of(*value) : Json();
  }
  template <class T>
  Json of(const std::vector<T>& list) const {
    Json json = Json::array();
    for (const T& one : list) json.push_back(of(one));
    return json;
  }

  const JsonBytes bytes_;
  Json json_ = Json::object();
};

// Fields that are missing, or that have another type, keep their values.
class JsonIn {
 public:
  static constexpr bool kReceives = true;

  JsonIn(const Json& json, JsonBytes bytes) : json_(json), bytes_(bytes) {}
  template <class T>
  void operator()(const char* key, T& value) {
    const auto found = json_.find(key);
    is_whole_ = found != json_.end() && take(*found, value) && is_whole_;
  }
  template <class T>
  void if_any(const char* key, std::optional<T>& value) {
    if (json_.contains(key)) (*this)(key, value);
  }
  // Returns whether all fields were present and had the right types.
  bool is_whole() const { return is_whole_; }

 private:
  template <class T>
  bool take(const Json& json, T& value) const {
    if constexpr (HasJsonFields<T, JsonIn>) {
      JsonIn inner(json, bytes_);
      if (json.is_object()) fields(inner, value);
      return json.is_object() && inner.is_whole_;
    } else {
      const bool is_right = std::same_as<T, bool>         ? json.is_boolean()
                            : std::is_integral_v<T>       ? json.is_number_integer()
                            : std::is_floating_point_v<T> ? json.is_number()
                                                          : json.is_string();
      if (is_right) value = json.get<T>();
      return is_right;
    }
  }
  bool take(const Json& json, std::string& text) const {
    if (!json.is_string()) return false;
    text = json.get<std::string>();
    if (bytes_ == JsonBytes::kEscaped) text = bytes_of_json_text(text);
    return true;
  }
  bool take(const Json& json, Status& status) const {
    int code = 0;
    std::string text;
    if (!json.is_array() || json.size() != 2 || !take(json[0], code) || !take(json[1], text))
      return false;
    status = code == 0 ? Status() : Status(static_cast<Code>(code), std::move(text));
    return true;
  }
  template <class T>
  bool take(const Json& json, std::optional<T>& value) const {
    value.reset();
    if (json.is_null() || take(json, value.emplace())) return true;
    value.reset();
    return false;
  }
  template <class T>
  bool take(const Json& json, std::vector<T>& list) const {
    bool is_right = json.is_array();
    if (!is_right) return false;
    for (const Json& one : json)
      if (!take(one, list.emplace_back())) {
        list.pop_back();
        is_right = false;
      }
    return is_right;
  }

  const Json& json_;
  const JsonBytes bytes_;
  bool is_whole_ = true;
};

template <class T>
Json json_fields(const T& value, JsonBytes bytes = JsonBytes::kEscaped) {
  return JsonOut(bytes).of(value);
}

// Returns false if a field is missing or has another type.
template <class T>
bool take_json_fields(const Json& json, T* value, JsonBytes bytes = JsonBytes::kEscaped) {
  if (!json.is_object()) return false;
  JsonIn in(json, bytes);
  fields(in, *value);
  return in.is_whole();
}

}  // namespace nmb::tools

// Job: the parameters of one run of a kernel, from the launcher. A key that the kernel does not
// read is an error, so that no parameter is ignored.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace nmb::bench {

class Job {
 public:
  explicit Job(nlohmann::json values) : values_(std::move(values)) {}

  bool has(const std::string& key) const { return values_.contains(key); }
  std::string text(const std::string& key, const std::string& otherwise = {}) {
    return get<std::string>(key, otherwise);
  }
  std::uint64_t number(const std::string& key, std::uint64_t otherwise) {
    return get<std::uint64_t>(key, otherwise);
  }
  double real(const std::string& key, double otherwise) { return get<double>(key, otherwise); }
  bool flag(const std::string& key, bool otherwise = false) { return get<bool>(key, otherwise); }
  std::vector<std::uint64_t> numbers(const std::string& key) {
    return get<std::vector<std::uint64_t>>(key, {});
  }
  std::vector<std::string> texts(const std::string& key) {
    return get<std::vector<std::string>>(key, {});
  }
  std::vector<std::pair<std::string, std::string>> pairs(const std::string& key) {
    const auto all = get<std::map<std::string, std::string>>(key, {});
    return {all.begin(), all.end()};
  }
  // Before a kernel begins its work.
  void check_all_read() const {
    for (const auto& [key, value] : values_.items())
      if (!read_.contains(key)) throw std::runtime_error("this kernel has no parameter " + key);
  }

 private:
  template <class T>
  T get(const std::string& key, const T& otherwise) {
    read_.insert(key);
    return values_.contains(key) ? values_.at(key).get<T>() : otherwise;
  }
  nlohmann::json values_;
  std::set<std::string> read_;
};

}  // namespace nmb::bench

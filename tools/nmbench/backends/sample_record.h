// A sample as one record: what programs store that have no library for arrays. The definitions of
// its variables, then all values.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "backend.h"

namespace nmb::bench {

struct RecordVariable {
  std::string_view name;
  Type type;
  std::vector<std::uint64_t> lengths;
  std::size_t place = 0, size = 0;  // of its values in the record
};
// Bytes of a record ahead of its values.
std::size_t definitions_of(std::string_view record);
// `record` may end behind the definitions.
std::vector<RecordVariable> variables_of(std::string_view record);
// Copies the values of a variable. Throws if there is none, or the record is too short.
void copy_values(std::string_view record, const RecordVariable& variable,
                 std::vector<std::byte>* out);
const RecordVariable& variable_named(const std::vector<RecordVariable>& all, std::string_view name);

// Samples that are stored once: when the last of their values was put or, without values, at the
// end.
class SampleRecords {
 public:
  using Store = std::function<void(std::string_view name, std::string_view record)>;

  void define(const Description& objects);
  // Values of a block's variables, in order.
  void put(std::size_t block, const std::vector<std::byte>& values, const Store& store);
  void finish(const Store& store);

 private:
  struct Sample {
    std::string name, record;
    std::size_t missing;  // variables without values
    bool stored = false;
  };
  std::vector<Sample> samples_;
};

}  // namespace nmb::bench

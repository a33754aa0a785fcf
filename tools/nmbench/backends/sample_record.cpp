// Records of samples (see sample_record.h): the length of the definitions; the number of variables;
// for each its name, type and lengths; then the values.
#include "sample_record.h"

#include <cstring>

namespace nmb::bench {

namespace {

template <class T>
void append(std::string* record, T number) {
  record->append(reinterpret_cast<const char*>(&number), sizeof number);
}

class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : bytes_(bytes) {}
  std::string_view take(std::size_t length) {
    if (length > bytes_.size() - at_) throw std::runtime_error("a sample's record ends too early");
    return bytes_.substr(std::exchange(at_, at_ + length), length);
  }
  template <class T>
  T number() {
    T number;
    std::memcpy(&number, take(sizeof number).data(), sizeof number);
    return number;
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

}  // namespace

std::size_t definitions_of(std::string_view record) {
  return Cursor(record).number<std::uint32_t>();
}

std::vector<RecordVariable> variables_of(std::string_view record) {
  Cursor cursor(record.substr(0, definitions_of(record)));
  cursor.number<std::uint32_t>();
  const auto count = cursor.number<std::uint32_t>();
  if (count > record.size()) throw std::runtime_error("a sample's record ends too early");
  std::vector<RecordVariable> all(count);
  for (RecordVariable& v : all) {
    v.name = cursor.take(cursor.number<std::uint8_t>());
    v.type = static_cast<Type>(cursor.number<std::uint8_t>());
    v.lengths.resize(cursor.number<std::uint8_t>());
    v.size = type_size(v.type);
    for (std::uint64_t& length : v.lengths) v.size *= length = cursor.number<std::uint64_t>();
  }
  std::size_t place = definitions_of(record);
  for (RecordVariable& v : all) v.place = std::exchange(place, place + v.size);
  return all;
}

void copy_values(std::string_view record, const RecordVariable& variable,
                 std::vector<std::byte>* out) {
  if (variable.place > record.size() || variable.size > record.size() - variable.place)
    throw std::runtime_error("a sample's record ends too early");
  const auto* values = reinterpret_cast<const std::byte*>(record.data()) + variable.place;
  out->assign(values, values + variable.size);
}

const RecordVariable& variable_named(const std::vector<RecordVariable>& all,
                                     std::string_view name) {
  for (const RecordVariable& v : all)
    if (v.name == name) return v;
  throw std::runtime_error("a sample has no " + std::string(name));
}

void SampleRecords::define(const Description& objects) {
  samples_.clear();
  std::size_t variable = 0, dimension = 0;
  for (const Description::Block& block : objects.blocks) {
    std::string record;
    append(&record, std::uint32_t{0});
    append(&record, block.variables);
    for (std::uint32_t i = 0; i < block.variables; ++i) {
      const Description::Variable& v = objects.variables[variable++];
      append(&record, static_cast<std::uint8_t>(v.name.length));
      record += objects.text(v.name);
      append(&record, static_cast<std::uint8_t>(v.type));
      append(&record, v.rank);
      for (std::uint8_t axis = 0; axis < v.rank; ++axis)
        append(&record, objects.dimensions[dimension++].length);
    }
    const auto length = static_cast<std::uint32_t>(record.size());
    std::memcpy(record.data(), &length, sizeof length);
    samples_.push_back({std::string(objects.text(block.name)), record, block.variables});
  }
}

void SampleRecords::put(std::size_t block, const std::vector<std::byte>& values,
                        const Store& store) {
  Sample& sample = samples_.at(block);
  sample.record.append(reinterpret_cast<const char*>(values.data()), values.size());
  if (--sample.missing > 0) return;
  store(sample.name, sample.record);
  sample.stored = true;
  std::string().swap(sample.record);
}

void SampleRecords::finish(const Store& store) {
  for (const Sample& sample : samples_)
    if (!sample.stored) store(sample.name, sample.record);
  samples_.clear();
}

}  // namespace nmb::bench

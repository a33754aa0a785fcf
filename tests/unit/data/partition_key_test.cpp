// Numbers for the events of several inputs.
#include "sources/partition_key.h"

#include <gtest/gtest.h>

#include "model/values.h"
#include "sources/value_source.h"
#include "wire/endian.h"

namespace nmb {
namespace {

KeyColumn column(const std::vector<std::int64_t>& values, Type type = Type::kShort) {
  std::vector<std::byte> bytes(values.size() * type_size(type));
  convert_to_external(MemoryType::kInt64, values.data(), values.size(), type, bytes.data());
  return {owned_bytes(std::move(bytes), "column"), type, values.size()};
}

std::vector<std::uint64_t> numbers(const std::shared_ptr<PartitionKey>& key, std::size_t input,
                                   const KeyColumn& of, std::size_t step) {
  const Source source = source_of(form::Numbered{key, input, of});
  std::vector<std::byte> bytes(source->size());
  for (std::size_t at = 0; at < bytes.size(); at += step)
    EXPECT_TRUE(
        source->read_at(at, std::span(bytes).subspan(at, std::min(step, bytes.size() - at))).ok());
  std::vector<std::uint64_t> out;
  for (std::size_t at = 0; at < bytes.size(); at += 8)
    out.push_back(load_be<std::uint64_t>(bytes.data() + at));
  return out;
}

TEST(PartitionKey, CountsTheEventsOfAllInputs) {
  const auto key = std::make_shared<PartitionKey>();
  for (std::size_t input = 0; input < 10; ++input)
    ASSERT_FALSE(key->add(input, column({-4, -4, 1, 5}))->has_value());
  for (const std::size_t step : {1u, 3u, 8u, 13u, 1000u}) {
    EXPECT_EQ(numbers(key, 0, column({5, -4, 1, 1}, Type::kDouble), step),
              (std::vector<std::uint64_t>{2, 0, 1, 1}));
    EXPECT_EQ(numbers(key, 9, column({1, 1, 5}, Type::kByte), step),
              (std::vector<std::uint64_t>{28, 28, 29}));
  }
}

TEST(PartitionKey, ManyValuesGoInParts) {
  std::vector<std::int64_t> many(100000);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<std::int64_t>(i / 3);
  const auto key = std::make_shared<PartitionKey>();
  ASSERT_FALSE(key->add(7, column(many, Type::kInt))->has_value());
  const auto found = numbers(key, 7, column(many, Type::kInt), 100001);
  for (std::size_t i = 0; i < many.size(); ++i) ASSERT_EQ(found[i], i / 3);
  many.back() = 40000;
  const auto problem = key->check(7, column(many, Type::kInt));
  ASSERT_TRUE(problem.ok() && problem->has_value());
  EXPECT_EQ((*problem)->found, "40000 at [99999]");
}

TEST(PartitionKey, WhatIsNoListOfEvents) {
  PartitionKey key;
  EXPECT_EQ((*key.add(0, column({1, 2}, Type::kFloat)))->found, "float");
  EXPECT_EQ((*key.add(0, column({1, 3, 2})))->found, "2 at [2] after 3");
  EXPECT_EQ((*key.check(0, column({1}, Type::kChar)))->expected, "integers");
  EXPECT_EQ((*key.add(0, column({1, -1}, Type::kUInt64)))->found, "a value past 2^63 - 1");
  // An input without events has no event.
  ASSERT_FALSE(key.add(1, column({}))->has_value());
  EXPECT_TRUE((*key.check(1, column({1}))).has_value());
  EXPECT_FALSE((*key.check(1, column({}))).has_value());
}

}  // namespace
}  // namespace nmb

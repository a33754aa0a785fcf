// Messages between ranks come back as they were sent, and a message that is cut short or has a
// wrong number is an error, not a read past its end.
#include "parallel/message_fields.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace nmb {
namespace {

enum class ListedColour : std::uint8_t { kRed, kGreen };

struct ListedPart {
  std::uint64_t begin = 0;
  std::string name;

  friend bool operator==(const ListedPart&, const ListedPart&) = default;
};

template <class Fields>
void fields(Fields& all, ListedPart& part) {
  all.small(part.begin);
  all(part.name);
}

struct ListedAll {
  std::int32_t number = 0;
  bool flag = false;
  ListedColour colour = ListedColour::kRed;
  std::uint64_t small = 0;
  std::string text;
  std::vector<std::uint64_t> numbers;
  std::vector<ListedPart> parts;
  std::map<std::string, ListedPart> by_name;
  std::optional<ListedPart> maybe, never;
  std::variant<std::string, double, ListedPart> one_of;
  std::pair<std::uint32_t, std::string> pair;

  friend bool operator==(const ListedAll&, const ListedAll&) = default;
};

template <class Fields>
void fields(Fields& all, ListedAll& it) {
  all(it.number, it.flag);
  all.choice(it.colour, ListedColour::kGreen);
  all.small(it.small);
  all(it.text, it.numbers, it.parts, it.by_name, it.maybe, it.never, it.one_of, it.pair);
}

ListedAll listed_all() {
  return {-7,
          true,
          ListedColour::kGreen,
          ~std::uint64_t{0},
          std::string("a\0b", 3),
          {1, 2, std::uint64_t{1} << 40},
          {{300, "x"}, {}},
          {{"first", {1, "one"}}, {"second", {2, ""}}},
          ListedPart{5, "five"},
          {},
          ListedPart{128, "held"},
          {9, "nine"}};
}

// A list of views sends what they show, not where it lies.
TEST(MessageFields, ListsOfViewsAreListsOfTexts) {
  const std::vector<std::byte> bytes =
      bytes_of_fields(std::vector<std::string_view>{"one", "", "three"});
  EXPECT_EQ(bytes, bytes_of_fields(std::vector<std::string>{"one", "", "three"}));
  std::vector<std::string_view> got;
  ASSERT_TRUE(take_fields(bytes, &got).ok());
  ASSERT_EQ(got, (std::vector<std::string_view>{"one", "", "three"}));
  EXPECT_GE(got.front().data(), reinterpret_cast<const char*>(bytes.data()));
  EXPECT_LT(got.front().data(), reinterpret_cast<const char*>(bytes.data() + bytes.size()));
}

TEST(MessageFields, ComeBack) {
  const ListedAll sent = listed_all();
  const std::vector<std::byte> bytes = bytes_of_fields(sent);
  ListedAll received;
  ASSERT_TRUE(take_fields(bytes, &received).ok());
  EXPECT_EQ(received, sent);
  const std::string text = text_of_fields(sent);
  received = {};
  ASSERT_TRUE(take_fields(std::as_bytes(std::span(text)), &received).ok());
  EXPECT_EQ(received, sent);
}

TEST(MessageFields, AreShortIfTheyAreSmall) {
  EXPECT_EQ(bytes_of_fields(ListedPart{127, "a"}).size(), 3u);
  EXPECT_EQ(bytes_of_fields(ListedPart{~std::uint64_t{0}, ""}).size(), 11u);
}

TEST(MessageFields, ViewsPointToTheMessage) {
  const std::vector<std::byte> bytes = bytes_of_fields(std::string_view("text"));
  FieldsIn in(bytes);
  const auto text = in.next<std::string_view>();
  EXPECT_EQ(text, "text");
  EXPECT_EQ(static_cast<const void*>(text.data()), bytes.data() + 1);
}

TEST(MessageFields, ACutMessageIsAnError) {
  const std::vector<std::byte> bytes = bytes_of_fields(listed_all());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const std::vector<std::byte> cut(bytes.begin(),
                                     bytes.begin() + static_cast<std::ptrdiff_t>(length));
    ListedAll received;
    EXPECT_EQ(take_fields(cut, &received).code(), Code::kDamaged) << length;
  }
  std::vector<std::byte> longer = bytes;
  longer.push_back(std::byte{0});
  ListedAll received;
  EXPECT_EQ(take_fields(longer, &received).code(), Code::kDamaged);
}

template <class T>
Status taken_from(std::initializer_list<int> numbers) {
  std::vector<std::byte> bytes;
  for (const int number : numbers) bytes.push_back(static_cast<std::byte>(number));
  T value{};
  return take_fields(bytes, &value);
}

struct ListedChoice {
  ListedColour colour = ListedColour::kRed;
};

template <class Fields>
void fields(Fields& all, ListedChoice& choice) {
  all.choice(choice.colour, ListedColour::kGreen);
}

TEST(MessageFields, WrongNumbersAreErrors) {
  EXPECT_TRUE(taken_from<ListedChoice>({1}).ok());
  EXPECT_FALSE(taken_from<ListedChoice>({2}).ok());
  using OneOf = std::variant<std::uint8_t, bool>;
  EXPECT_TRUE(taken_from<OneOf>({1, 1}).ok());
  EXPECT_FALSE(taken_from<OneOf>({2, 1}).ok());
  // A number of items, or a length, that is larger than the message. No memory is allocated for it.
  EXPECT_FALSE(taken_from<std::vector<ListedPart>>({255, 255, 255, 255, 255, 255, 255, 127}).ok());
  EXPECT_FALSE(taken_from<std::string>({255, 255, 255, 255, 255, 255, 255, 127, 0}).ok());
  // A number of more than 64 bits.
  EXPECT_FALSE(
      taken_from<ListedPart>({255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 127, 0}).ok());
}

TEST(MessageFields, AStatusComesBack) {
  const Status sent(Code::kDamaged, "a.nmb", 4096, "R-BL-1", "found no block", 3);
  Status received;
  ASSERT_TRUE(take_fields(bytes_of_fields(sent), &received).ok());
  EXPECT_EQ(received.text(), sent.text());
  EXPECT_EQ(received.rank(), 3);
  ASSERT_TRUE(take_fields(bytes_of_fields(Status()), &received).ok());
  EXPECT_TRUE(received.ok());
}

}  // namespace
}  // namespace nmb

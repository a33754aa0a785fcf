// ExtentOrigin: where a block's values come from. Each alternative has its own file, which defines
// the steps that differ from the defaults in origins/origin_steps.h. A new alternative needs a
// file, a line in Alternatives, and a row in tests/unit/write/extent_origin_test.cpp.
#pragma once

#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "origins/linked_pieces.h"
#include "origins/moved_values.h"
#include "origins/no_values.h"
#include "origins/put_values.h"
#include "origins/ready_pieces.h"
#include "origins/unchanged_values.h"

namespace nmb {

// Large alternatives are held by pointer, because a writer may have many blocks, and few of them
// need one.
class ExtentOrigin {
  template <class Ask>
  auto ask(Ask&& what) const {
    return std::visit([&](const auto& origin) { return what(unboxed(origin)); }, origin_);
  }
  template <class Ask>
  auto ask(Ask&& what) {
    return std::visit([&](auto& origin) { return what(unboxed(origin)); }, origin_);
  }
  template <class Held>
  static auto& unboxed(Held& held) {
    if constexpr (requires { *held; })
      return *held;
    else
      return held;
  }

 public:
  using Alternatives = std::variant<PutValues,        //
                                    NoValues,         //
                                    UnchangedValues,  //
                                    std::unique_ptr<MovedValues>, std::unique_ptr<ReadyPieces>,
                                    std::unique_ptr<LinkedPieces>>;

  ExtentOrigin() = default;  // PutValues without any values
  template <class Origin>
  requires(!std::is_same_v<Origin, ExtentOrigin>) explicit ExtentOrigin(Origin origin) {
    if constexpr (std::is_constructible_v<Alternatives, Origin>)
      origin_ = std::move(origin);
    else
      origin_ = std::make_unique<Origin>(std::move(origin));
  }

  // Returns nullptr if the origin is another alternative.
  template <class Origin>
  Origin* as() {
    if constexpr (std::is_constructible_v<Alternatives, Origin>) {
      return std::get_if<Origin>(&origin_);
    } else {
      auto* const found = std::get_if<std::unique_ptr<Origin>>(&origin_);
      return found ? found->get() : nullptr;
    }
  }
  template <class Origin>
  const Origin* as() const {
    return const_cast<ExtentOrigin*>(this)->as<Origin>();
  }

  // --- the steps of origin_steps.h ---
  ValueSpace space(std::uint64_t extent_length) const {
    return ask([&](const auto& origin) { return origin.space(extent_length); });
  }
  PieceForecast forecast(std::uint64_t extent_length, std::uint32_t piece_size) const {
    return ask([&](const auto& origin) { return origin.forecast(extent_length, piece_size); });
  }
  void place(std::uint64_t position) {
    ask([&](auto& origin) { origin.place(position); });
  }
  Move* move() {
    return ask([](auto& origin) { return origin.move(); });
  }
  const Move* move() const { return const_cast<ExtentOrigin*>(this)->move(); }
  void tap(StatisticsTap::MakeCounter make) {
    ask([&](auto& origin) { origin.tap(std::move(make)); });
  }
  Status check(std::string_view block, std::uint64_t extent_length, bool shared) const {
    return ask([&](const auto& origin) { return origin.check(block, extent_length, shared); });
  }
  Result<FinishedExtent> finish(const FinishContext& context) {
    return ask([&](auto& origin) { return origin.finish(context); });
  }
  Result<Counting> count(const CountContext& context) {
    return ask([&](auto& origin) { return origin.count(context); });
  }
  bool takes_puts() const {
    return ask([](const auto& origin) { return std::decay_t<decltype(origin)>::kTakesPuts; });
  }

  // Returns the state of the values that were put or opened, or nullptr if there are none.
  ExtentState* extent() const {
    const auto* const put = as<PutValues>();
    return put ? put->extent() : nullptr;
  }
  // Returns the number of bytes that the commit moves.
  std::uint64_t moved_bytes() const {
    const Move* const moved = move();
    return moved ? moved->stored_length() : 0;
  }
  // Marks the values as committed. Must be called after the commit. Keeps the ExtentState if there
  // is one.
  void committed() {
    if (ExtentState* const state = extent())
      state->committed();
    else
      origin_ = UnchangedValues();
  }

 private:
  Alternatives origin_;
};

}  // namespace nmb

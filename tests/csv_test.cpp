// Trajectories read back: numbers, columns, damaged files, and that pieces do not matter.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "ricochet/base/error.h"
#include "ricochet/base/random.h"
#include "ricochet/record/csv_reader.h"
#include "ricochet/record/rows.h"
#include "ricochet/scene/scene.h"
#include "ricochet/study/builtin_scenes.h"
#include "ricochet/study/motion.h"

namespace ricochet::record::csv_test {
namespace {

double number_of(const std::string& text) {
  std::string_view rest = text;
  double value = 0.0;
  EXPECT_TRUE(take_number(rest, value)) << text;
  EXPECT_TRUE(rest.empty()) << text;
  return value;
}

TEST(Csv, NumbersAreReadToAnUlpOrTwo) {
  base::Random random(11);
  for (int k = 0; k < 20'000; ++k) {
    const double exact = random.normal() * std::pow(10.0, random.uniform(-300.0, 300.0));
    char text[64];
    std::snprintf(text, sizeof text, "%.17g", exact);
    EXPECT_NEAR(number_of(text) / exact, 1.0, 8.0 * std::numeric_limits<double>::epsilon()) << text;
  }
  for (const char* text : {"0", "-0", "1", "-1.5", "123456789", "0.1", "1e22", "9007199254740993",
                           "0.00000000000000000000000001", "100000000000000000000000000"}) {
    EXPECT_NEAR(number_of(text), std::strtod(text, nullptr),
                1e-15 * std::abs(std::strtod(text, nullptr)))
        << text;
  }
  EXPECT_TRUE(std::isnan(number_of("nan")));
  EXPECT_TRUE(std::isnan(number_of("-nan")));
  EXPECT_EQ(number_of("-inf"), -std::numeric_limits<double>::infinity());
  EXPECT_GT(number_of("4.9406564584124654e-324"), 0.0);
}

TEST(Csv, WhatIsNoNumberIsRefused) {
  for (const std::string text : {"", "x", "-", ".", ",", "e5"}) {
    std::string_view rest = text;
    double value = 0.0;
    EXPECT_FALSE(take_number(rest, value)) << text;
  }
}

TEST(Csv, RowsComeOutTheSameForPiecesOfAnySize) {
  std::string text = "t,x,d_x,w.gap\n";
  for (int k = 0; k < 50; ++k) {
    text +=
        std::to_string(k) + ",-" + std::to_string(2 * k) + ".5e-3,7," + std::to_string(k) + "\n";
  }
  for (const std::size_t piece : {1U, 7U, 64U, 10'000U}) {
    CsvReader reader("t.csv");
    std::vector<std::vector<double>> rows;
    std::string held;
    for (std::size_t at = 0; at < text.size(); at += piece) {
      held += text.substr(at, piece);
      const bool is_last = at + piece >= text.size();
      if (reader.columns().empty()) {
        held.erase(0, reader.read_header(held, is_last));
        if (reader.columns().empty()) continue;
        reader.want({1, 0});
      }
      held.erase(0, reader.read_rows(held, is_last, [&](std::span<const double> row) {
        rows.emplace_back(row.begin(), row.end());
      }));
    }
    ASSERT_EQ(rows.size(), 50U) << piece;
    for (int k = 0; k < 50; ++k) {
      EXPECT_DOUBLE_EQ(rows[static_cast<std::size_t>(k)][0], -(2 * k + 0.5) * 1e-3);
      EXPECT_EQ(rows[static_cast<std::size_t>(k)][1], k);
    }
  }
}

TEST(Csv, DamagedLinesAreNamed) {
  const auto line_of_error = [](const std::string& text) {
    CsvReader reader("t.csv");
    try {
      const std::size_t used = reader.read_header(text, true);
      reader.want({0, 1, 2});
      (void)reader.read_rows(std::string_view(text).substr(used), true, [](auto) {});
    } catch (const base::InputError& error) {
      return std::string(error.what()).substr(0, 8);
    }
    return std::string("none");
  };
  EXPECT_EQ(line_of_error("t,x,y\n1,2,3\n1,2\n"), "t.csv:3:");
  EXPECT_EQ(line_of_error("t,x,y\n1,2,3\n1,2,3\n1,two,3\n"), "t.csv:4:");
  EXPECT_EQ(line_of_error("x,y\n1,2\n"), "t.csv:1:");
  EXPECT_EQ(line_of_error("t,x,y\n1,2,3\n1,2,3"), "none");
}

/// Pictures look into rows by the names of their columns: as many names as numbers, in the plan of
/// every scene as in the header of its file.
TEST(Csv, PlansRowsAndFilesHaveTheSameColumns) {
  for (const study::BuiltinScene& builtin : study::builtin_scenes()) {
    scene::Scene scene = scene::read_scene(builtin.name + ".toml", builtin.text);
    std::string header;
    append_header(scene.columns, header);
    std::string names;
    for (const std::string& name : scene.plot.columns) names += (names.empty() ? "" : ",") + name;
    EXPECT_EQ(header, names + "\n") << builtin.name;
    scene.run.steps = 1;
    scene.run.control = {};
    std::vector<double> row;
    (void)study::run_scene(
        scene, false, [&](const step::Sample& sample) { fill_row(scene.columns, sample, row); });
    EXPECT_EQ(row.size(), scene.plot.columns.size()) << builtin.name;
  }
}

TEST(Csv, RowsAsNumbersAreTheRowsAsText) {
  const Columns columns{{"x"}, {"w", "v"}, true};
  const std::vector<double> q = {1.5};
  const std::vector<double> u = {-2.25};
  const std::vector<double> gaps = {0.125, 3.0};
  const std::vector<double> impulses = {0.0, 0.5};
  const step::Sample sample{7, 0.75, q, u, gaps, impulses, 2.53125, 14.715};
  std::string text;
  append_header(columns, text);
  append_row(columns, sample, text);
  std::vector<double> numbers;
  fill_row(columns, sample, numbers);
  CsvReader reader("t.csv");
  const std::size_t used = reader.read_header(text, true);
  std::vector<int> all;
  for (std::size_t k = 0; k < reader.columns().size(); ++k) all.push_back(static_cast<int>(k));
  reader.want(all);
  (void)reader.read_rows(std::string_view(text).substr(used), true, [&](auto row) {
    EXPECT_EQ(std::vector<double>(row.begin(), row.end()), numbers);
  });
  EXPECT_EQ(reader.rows(), 1);
}

}  // namespace
}  // namespace ricochet::record::csv_test

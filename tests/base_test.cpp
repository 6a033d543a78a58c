#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ricochet/base/error.h"
#include "ricochet/base/json.h"
#include "ricochet/base/random.h"
#include "ricochet/base/sum.h"
#include "ricochet/base/text.h"

namespace ricochet::base::base_test {
namespace {

TEST(InputError, ShowsPlaceKeyCaretAndRemedy) {
  const InputError error("run.step", "must be positive, not -1", "write a number > 0",
                         {"a.toml", 12, 8, 2, "step = -1"});
  EXPECT_STREQ(error.what(),
               "a.toml:12:8: error: run.step: must be positive, not -1\n"
               "12 | step = -1\n"
               "   |        ^~\n"
               "remedy: write a number > 0");
}

TEST(InputError, WithoutAPlaceStillNamesKeyAndRemedy) {
  EXPECT_STREQ(InputError("x", "is wrong", "mend it").what(),
               "error: x: is wrong\nremedy: mend it");
}

TEST(InputError, KeepsLongLinesWithin80Columns) {
  const std::string line = std::string(200, 'a') + "FAULT" + std::string(200, 'b');
  const std::string text = InputError("k", "m", "", {"f", 1, 201, 5, line}).what();
  std::size_t begin = text.find('\n') + 1;
  EXPECT_NE(text.find("FAULT"), std::string::npos);
  for (std::size_t end; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    EXPECT_LE(end - begin, 80U) << text;
  }
  const std::size_t fault = text.find("FAULT") - text.find('\n') - 1;
  const std::size_t caret = text.find('^') - text.rfind('\n', text.find('^')) - 1;
  EXPECT_EQ(caret, fault) << text;
}

TEST(InputError, PutsTheCaretUnderTheFaultBehindWideCharacters) {
  const std::string text = InputError("k", "m", "", {"f", 1, 5, 1, "\u00e9\u00e9\u00e9 x"}).what();
  EXPECT_NE(text.find("1 | \u00e9\u00e9\u00e9 x\n  |     ^"), std::string::npos) << text;
}

TEST(Text, ParsesWholeNumbersOnly) {
  EXPECT_EQ(parse_number("1e-3"), 1e-3);
  EXPECT_EQ(parse_number(".5"), 0.5);
  EXPECT_FALSE(parse_number("1x"));
  EXPECT_FALSE(parse_number(""));
}

TEST(Text, FindsTheNameATypingErrorMeant) {
  const std::vector<std::string> names = {"position", "velocity", "tolerance"};
  EXPECT_EQ(nearest_name("postion", names), "position");
  EXPECT_EQ(nearest_name("vleocity", names), "velocity");
  EXPECT_FALSE(nearest_name("banana", names));
  const std::vector<std::string> one_letter = {"x", "y"};
  EXPECT_FALSE(nearest_name("z", one_letter));  // any letter is one edit from any other
}

TEST(Text, TellsAValueAsFarAsItHolds) {
  EXPECT_EQ(with_bar(6.90302731, 0.0037), "6.903 ± 0.004");
  EXPECT_EQ(with_bar(-6.9, 0.0037), "-6.900 ± 0.004");
  EXPECT_EQ(with_bar(6.9, 0.0097), "6.90 ± 0.01");  // never rounded down
  EXPECT_EQ(with_bar(0.0, 0.02), "0 ± 0.02");
  EXPECT_EQ(with_bar(425.465, 66.0), "430 ± 70");
  EXPECT_EQ(with_bar(1.5, 3e-9), "1.500000000 ± 3e-9");
  EXPECT_EQ(with_bar(1.0 / 3.0, 0.0), "0.333333333");
  EXPECT_EQ(with_bar(2.5e12, 3e9), "(2.500 ± 0.003)e12");
  EXPECT_EQ(with_bar(2.5e-8, 3e-10), "(2.50 ± 0.03)e-8");
  EXPECT_EQ(with_bar(1.0, 2e-17), "1 ± 2e-17");
  EXPECT_EQ(rounded_up(0.0031), "0.004");
}

TEST(Text, FindsLines) {
  EXPECT_EQ(line_of("a\nb\r\nc", 2), "b");
  EXPECT_EQ(line_of("a\nb\nc", 3), "c");
  EXPECT_EQ(line_of("a", 2), "");
}

TEST(Sum, LosesNothingOverManySmallTerms) {
  Sum sum;
  sum.add(1.0);
  for (int i = 0; i < 10'000'000; ++i) sum.add(1e-16);  // each alone would be rounded away
  EXPECT_NEAR(sum.value(), 1.0 + 1e-9, 1e-15);
}

TEST(Random, IsTheSameEverywhereAndUniform) {
  EXPECT_EQ(Random(0).bits(), 0xE220A8397B1DCDAFULL);  // published first output of splitmix64
  Random random(5);
  double mean = 0.0;
  double square = 0.0;
  constexpr int kCount = 100'000;
  for (int i = 0; i < kCount; ++i) {
    const double x = random.normal();
    mean += x / kCount;
    square += x * x / kCount;
  }
  EXPECT_NEAR(mean, 0.0, 5.0 / std::sqrt(kCount));
  EXPECT_NEAR(square, 1.0, 5.0 * std::sqrt(2.0 / kCount));
}

std::string number_text(double value) { return Json(value).compact(); }

/// Exact: what JSON allows, as many digits as tell the number from its neighbours.
TEST(Json, WritesNumbers) {
  EXPECT_EQ(number_text(0.0), "0.0");
  EXPECT_EQ(number_text(-0.0), "-0.0");
  EXPECT_EQ(number_text(100.0), "100.0");
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(-1e-4), "-0.0001");
  EXPECT_EQ(number_text(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(number_text(1.5e-7), "1.5e-07");
  EXPECT_EQ(number_text(999999999999999.0), "999999999999999.0");
  EXPECT_EQ(number_text(1e15), "1e+15");
  EXPECT_EQ(number_text(-1234567890123456.0), "-1.234567890123456e+15");
  EXPECT_EQ(number_text(1e16), "1e+16");
  EXPECT_EQ(number_text(std::numeric_limits<double>::max()), "1.7976931348623157e+308");
  EXPECT_EQ(number_text(std::numeric_limits<double>::quiet_NaN()), "null");
  EXPECT_EQ(number_text(-std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(Json(std::size_t{12}).compact(), "12");
  EXPECT_EQ(Json(-3LL).compact(), "-3");
}

TEST(Json, IsReadBackAsItWas) {
  Random random(7);
  for (int i = 0; i < 20'000; ++i) {
    const double size = std::pow(10.0, random.uniform(-30.0, 30.0));
    const double value = random.normal() * (i % 2 == 0 ? 1.0 : size);
    const auto read = nlohmann::json::parse(number_text(value));
    EXPECT_TRUE(read.is_number_float());
    EXPECT_EQ(read.get<double>(), value);
  }
}

TEST(Json, KeepsTheOrderOfKeys) {
  Json json;
  json["z"] = 1;
  json["a"] = {{"yes", true}, {"no", false}};
  json["list"] = std::vector<std::string>{"x", "y"};
  json["pair"] = std::array<double, 2>{0.5, 2.0};
  json["none"] = nullptr;
  json["z"] = 2;
  json["rows"].push_back({{"k", 1}});
  json["empty"] = Json::list();
  json["bare"] = Json::object();
  EXPECT_EQ(json.compact(),
            R"({"z":2,"a":{"yes":true,"no":false},"list":["x","y"],"pair":[0.5,2.0],"none":null,)"
            R"("rows":[{"k":1}],"empty":[],"bare":{}})");
  EXPECT_EQ(json.pretty(), nlohmann::ordered_json::parse(json.compact()).dump(2));
  EXPECT_TRUE(json.contains("pair"));
  EXPECT_FALSE(json.contains("triple"));
  EXPECT_EQ(json["a"], Json({{"yes", true}, {"no", false}}));
  EXPECT_FALSE(json["a"] == json["list"]);
}

TEST(Json, EscapesTexts) {
  EXPECT_EQ(Json("a\"b\\c\n\t\r\b\f\x01\x7f/").compact(), R"("a\"b\\c\n\t\r\b\f\u0001)"
                                                          "\x7f/\"");
  EXPECT_EQ(Json("\xc3\xa9 \xf0\x9d\x84\x9e").compact(), "\"\xc3\xa9 \xf0\x9d\x84\x9e\"");
  EXPECT_EQ(Json("a\xff"
                 "b\xe2\x89")
                .compact(),
            "\"a\xef\xbf\xbd"
            "b\xef\xbf\xbd\xef\xbf\xbd\"");
  EXPECT_EQ(nlohmann::json::parse(Json("\x1b\"\\").compact()).get<std::string>(), "\x1b\"\\");
}

TEST(Text, FindsWhatIsNoText) {
  EXPECT_EQ(first_line_that_is_no_text(""), 0);
  EXPECT_EQ(first_line_that_is_no_text("a\tb\r\n\xc3\xa9 \xe2\x89\xa4 \xf0\x9d\x84\x9e\n"), 0);
  EXPECT_EQ(first_line_that_is_no_text(std::string_view("a\nb\0", 4)), 2);
  EXPECT_EQ(first_line_that_is_no_text("a\n\n\x1b[2J"), 3);
  for (const char* bad : {"\xe9", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xe2\x89"}) {
    EXPECT_EQ(first_line_that_is_no_text(bad), 1);
  }
}

}  // namespace
}  // namespace ricochet::base::base_test

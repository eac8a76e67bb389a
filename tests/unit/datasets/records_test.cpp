// Tables of other projects: what is read of them, what is left out, and with which words.
#include <arrow/api.h>
#include <arrow/io/file.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parquet/arrow/writer.h>
#include <parquet/file_reader.h>

#include <cmath>
#include <fstream>
#include <kernelrl/values.hpp>

#include "plugins/datasets/records/python_literal.hpp"
#include "plugins/datasets/records/record_file.hpp"
#include "plugins/datasets/records/record_text.hpp"
#include "tests/scratch_folder.hpp"
#include "tests/unit/datasets/dataset_under_test.hpp"

namespace krl::testing {
using namespace records;
namespace {

using nlohmann::json;
using test::ScratchFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// ---- Python literals

std::string literal(std::string_view text) {
  const auto value = read_python_literal(text);
  return value ? value->dump() : "none";
}

TEST(PythonLiteral, ReadsWhatReprWrites) {
  EXPECT_EQ(literal("{'a': 1, 'b': [True, False, None], 'c': (1.5, -2e-3)}"),
            R"({"a":1,"b":[true,false,null],"c":[1.5,-0.002]})");
  EXPECT_EQ(literal(R"("it's" ' two\n\x41\u00e9\N' r'\d')"), "\"it's two\\nAé\\\\N\\\\d\"");
  EXPECT_EQ(literal("{1: 'one', (2,): '''a\nb''',}"), R"({"1":"one","[2]":"a\nb"})");
  EXPECT_EQ(literal(" () "), "[]");
  EXPECT_EQ(literal("(1)"), "1");
  EXPECT_EQ(literal("(1,)"), "[1]");
  EXPECT_EQ(literal("1_000"), "1000");
  EXPECT_EQ(literal("123456789012345678901234567890"), "1.2345678901234568e+29");
  EXPECT_TRUE(std::isnan(read_python_literal("nan")->get<double>()));
  EXPECT_EQ(read_python_literal("-inf")->get<double>(), -HUGE_VAL);
}

TEST(PythonLiteral, ReadsNothingElse) {
  for (const char* text : {"", "x", "{", "[1", "'a", "{1, 2}", "1 2", "__import__('os')", "f'x'",
                           "--1", "{'a' 1}", "'\\x4'", "'\\ud800", "Truely"}) {
    EXPECT_EQ(literal(text), "none") << text;
  }
  EXPECT_EQ(literal(std::string(10'000, '[')), "none");
}

// ---- texts and conditions

TEST(RecordText, PutsValuesInTheirPlaces) {
  const json record = {
      {"code", "x"}, {"n", 3}, {"chat", {{{"content", "hi"}}}}, {"a.b", 1}, {"no", nullptr}};
  std::string missing;
  EXPECT_EQ(RecordText("{{code}}: {{ n }} {{chat.0.content}}{{a.b}}!").of(record, &missing),
            "x: 3 hi1!");
  EXPECT_EQ(RecordText("plain").of(record, &missing), "plain");
  EXPECT_EQ(RecordText("{{code}}{{chat.1.content}}").of(record, &missing), std::nullopt);
  EXPECT_EQ(missing, "chat.1.content");
  EXPECT_EQ(RecordText("{{no}}").of(record, &missing), std::nullopt);
  EXPECT_THROW(RecordText("{{code"), Failure);
}

TEST(RecordCondition, ComparesNumbersAndTexts) {
  const json record = {
      {"Correct", true}, {"speedup", 1.5}, {"text", "12"}, {"level", "a"}, {"none", nullptr}};
  const auto holds = [&](const char* condition) { return Condition(condition).holds(record); };
  for (const char* yes :
       {"Correct", "not none", "not absent", "speedup > 1", "speedup>=1.5", "text == 12",
        "level == 'a'", "level != \"b\"", "Correct == True", "text < 13"}) {
    EXPECT_TRUE(holds(yes)) << yes;
  }
  for (const char* no : {"not Correct", "none", "absent", "speedup < 1.5", "level == 1",
                         "none != 1", "absent != 1", "speedup == 'a'", "Correct != True"}) {
    EXPECT_FALSE(holds(no)) << no;
  }
  for (const auto& [text, is_true] : std::map<std::string, bool>{{"", false},
                                                                 {"False", false},
                                                                 {"false", false},
                                                                 {"None", false},
                                                                 {"null", false},
                                                                 {"0", false},
                                                                 {"0.0", false},
                                                                 {"True", true},
                                                                 {"true", true},
                                                                 {"1", true},
                                                                 {"boom", true},
                                                                 {"nan", true},
                                                                 {" ", true}}) {
    const json of_text = {{"a", text}};
    EXPECT_EQ(Condition("a").holds(of_text), is_true) << '"' << text << '"';
    EXPECT_EQ(Condition("not a").holds(of_text), !is_true) << '"' << text << '"';
  }
  EXPECT_FALSE(Condition("a").holds({{"a", json::array()}}));
  for (const char* wrong : {"", "not ", "> 1", "a > b", "a = 1", "a == [1]"})
    EXPECT_THROW(Condition{wrong}, Failure) << wrong;
}

// ---- files

void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

struct Scanned {
  std::vector<std::uint64_t> positions;
  std::vector<json> records;
  std::vector<std::string> complaints;
};

Scanned scan(RecordFile& file, const std::set<std::string>& columns) {
  Scanned all;
  file.scan(
      columns,
      [&](std::uint64_t position, const json& record) {
        all.positions.push_back(position);
        all.records.push_back(record);
      },
      [&](const std::string& what) { all.complaints.push_back(what); });
  return all;
}

void expect_same_again(RecordFile& file, const Scanned& all) {
  for (std::size_t i = 0; i < all.records.size(); ++i)
    EXPECT_EQ(file.read(all.positions[i]), all.records[i]) << i;
  for (std::size_t i = all.records.size(); i-- > 0;)
    EXPECT_EQ(file.read(all.positions[i]), all.records[i]) << i;
}

TEST(RecordFile, ReadsJsonLinesAndNamesBrokenOnes) {
  const ScratchFolder folder;
  const auto path = folder / "a.jsonl";
  write(path, "{\"a\": 1}\nnot json\n\n[1]\r\n{\"a\": \"\xc3\xa9\"}\n{\"a\": 3}");
  const auto file = open_record_file(path);
  const Scanned all = scan(*file, {"a"});
  EXPECT_THAT(all.records, ElementsAre(json{{"a", 1}}, json{{"a", "é"}}, json{{"a", 3}}));
  EXPECT_THAT(all.complaints, ElementsAre(path.string() + ":2: not a JSON object",
                                          path.string() + ":4: not a JSON object"));
  expect_same_again(*file, all);
  write(path, "{}");
  EXPECT_THROW(file->read(all.positions[2]), Failure);
}

TEST(RecordFile, ReadsTheNumbersThatPythonWritesAndJsonHasNot) {
  const ScratchFolder folder;
  const auto path = folder / "a.jsonl";
  write(path, R"({"a": NaN, "b": [-Infinity, 1], "c": "NaN \" Infinity", "d": Infinity})"
              "\n{\"a\": NaNs}");
  const auto file = open_record_file(path);
  const Scanned all = scan(*file, {"a"});
  EXPECT_THAT(all.records,
              ElementsAre(json{
                  {"a", nullptr}, {"b", {nullptr, 1}}, {"c", "NaN \" Infinity"}, {"d", nullptr}}));
  EXPECT_THAT(all.complaints, ElementsAre(path.string() + ":2: not a JSON object"));
  expect_same_again(*file, all);
}

// Rows i = 0 … n-1 in groups: id "r<i>", speed i / 2 but null for every third, tags [i, i+1], and a
// nested place.
void write_parquet(const std::filesystem::path& path, int n, int rows_in_a_group) {
  arrow::StringBuilder id;
  arrow::DoubleBuilder speed;
  arrow::ListBuilder tags(arrow::default_memory_pool(), std::make_shared<arrow::Int64Builder>());
  auto& tag = static_cast<arrow::Int64Builder&>(*tags.value_builder());
  for (int i = 0; i < n; ++i) {
    ASSERT_TRUE(id.Append("r" + std::to_string(i)).ok());
    ASSERT_TRUE((i % 3 == 2 ? speed.AppendNull() : speed.Append(i / 2.0)).ok());
    ASSERT_TRUE(tags.Append().ok() && tag.Append(i).ok() && tag.Append(i + 1).ok());
  }
  const auto ids = *id.Finish();
  const auto place = *arrow::StructArray::Make({ids}, {arrow::field("file", arrow::utf8())});
  const auto table = arrow::Table::Make(
      arrow::schema({arrow::field("id", arrow::utf8()), arrow::field("speed", arrow::float64()),
                     arrow::field("tags", tags.type()), arrow::field("place", place->type())}),
      {ids, *speed.Finish(), *tags.Finish(), place});
  const auto out = *arrow::io::FileOutputStream::Open(path.string());
  ASSERT_TRUE(
      parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), out, rows_in_a_group).ok());
  ASSERT_TRUE(out->Close().ok());
}

TEST(RecordFile, ReadsParquet) {
  const ScratchFolder folder;
  const auto path = folder / "a.parquet";
  write_parquet(path, 1000, 300);
  const auto file = open_record_file(path);
  EXPECT_THAT(file->columns(), ElementsAre("id", "speed", "tags", "place"));
  const Scanned all = scan(*file, {"id", "speed", "tags", "place"});
  ASSERT_EQ(all.records.size(), 1000u);
  EXPECT_THAT(all.complaints, IsEmpty());
  EXPECT_EQ(
      all.records[301],
      (json{
          {"id", "r301"}, {"speed", 150.5}, {"tags", {301, 302}}, {"place", {{"file", "r301"}}}}));
  EXPECT_EQ(all.records[302]["speed"], nullptr);
  expect_same_again(*file, all);
  EXPECT_EQ(scan(*file, {"place"}).records[999], (json{{"place", {{"file", "r999"}}}}));
}

TEST(RecordFile, ReadsListsOfFixedSizeAndMaps) {
  const ScratchFolder folder;
  const auto path = folder / "a.parquet";
  auto* const pool = arrow::default_memory_pool();
  arrow::FixedSizeListBuilder grid(pool, std::make_shared<arrow::Int64Builder>(), 2);
  auto keys = std::make_shared<arrow::StringBuilder>();
  auto items = std::make_shared<arrow::DoubleBuilder>();
  arrow::MapBuilder times(pool, keys, items);
  auto& size = static_cast<arrow::Int64Builder&>(*grid.value_builder());
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(grid.Append().ok() && size.Append(i).ok() && size.Append(2).ok());
    ASSERT_TRUE(times.Append().ok() && keys->Append("run").ok() && items->Append(i / 2.0).ok());
  }
  const auto table = arrow::Table::Make(
      arrow::schema({arrow::field("grid", grid.type()), arrow::field("times", times.type())}),
      {*grid.Finish(), *times.Finish()});
  const auto out = *arrow::io::FileOutputStream::Open(path.string());
  ASSERT_TRUE(parquet::arrow::WriteTable(*table, pool, out, 10).ok() && out->Close().ok());
  const Scanned all = scan(*open_record_file(path), {"grid", "times"});
  ASSERT_EQ(all.records.size(), 2u);
  EXPECT_EQ(all.records[1], (json{{"grid", {1, 2}}, {"times", {{"run", 0.5}}}}));
}

TEST(RecordFile, LeavesOutRowGroupsThatAreBroken) {
  const ScratchFolder folder;
  const auto path = folder / "a.parquet";
  write_parquet(path, 1000, 250);
  const auto group = parquet::ParquetFileReader::OpenFile(path.string())->metadata()->RowGroup(1);
  std::fstream bytes(path, std::ios::binary | std::ios::in | std::ios::out);
  bytes.seekp(group->ColumnChunk(1)->data_page_offset());
  bytes << std::string(16, '\xff') << std::flush;
  const auto file = open_record_file(path);
  const Scanned all = scan(*file, {"id", "speed", "tags", "place"});
  ASSERT_EQ(all.complaints.size(), 1u);
  EXPECT_THAT(all.complaints[0], HasSubstr(path.string() + ": row group 1: "));
  EXPECT_THAT(all.complaints[0], HasSubstr("; its rows 250 to 499 are left out"));
  EXPECT_EQ(all.records.size(), 750u);
  expect_same_again(*file, all);
}

TEST(RecordFile, RefusesWhatItCannotRead) {
  const ScratchFolder folder;
  write(folder / "a.parquet", "PAR1 is not enough");
  write(folder / "a.csv", "a,b");
  for (const char* name :
       {"a.parquet", "a.csv", "absent.jsonl", "absent.parquet", "folder.jsonl"}) {
    std::filesystem::create_directory(folder / "folder.jsonl");
    try {
      open_record_file(folder / name);
      ADD_FAILURE() << name;
    } catch (const Failure& failure) {
      EXPECT_THAT(failure.what(), HasSubstr((folder / name).string() + ": "));
    }
  }
}

// ---- the plugin

TEST(RecordsPlugin, GivesPairs) {
  const ScratchFolder folder;
  write(folder / "a.jsonl",
        "{\"uuid\": 7, \"python\": \"p\", \"triton\": \"t\"}\n{\"uuid\": 8, \"python\": \"q\"}\n");
  write(folder / "b.jsonl",
        "{\"uuid\": 9, \"python\": \"r\", \"triton\": \"u\", \"bad\": true}\n}\n");
  const DatasetUnderTest dataset("records", {{"path", folder.path().string()},
                                             {"id", "book/{{uuid}}"},
                                             {"prompt", "Translate:\n{{python}}"},
                                             {"answer", "{{triton}}"}});
  ASSERT_EQ(dataset.size(), 2u);
  EXPECT_EQ(dataset.read(0).id, "book/7");
  EXPECT_EQ(dataset.read(1).prompt, "Translate:\nr");
  EXPECT_EQ(dataset.read(1).answer, "u");
  EXPECT_EQ(dataset.read(0).answer, "t");
  EXPECT_THAT(dataset.messages(),
              ElementsAre((folder / "b.jsonl").string() + ":2: not a JSON object"));
  EXPECT_THROW(dataset.read(2), Failure);
}

TEST(RecordsPlugin, GivesDocumentsOfThoseThatAreWanted) {
  const ScratchFolder folder;
  write_parquet(folder / "a.parquet", 30, 10);
  write(folder / "a-broken.parquet", "no");
  const DatasetUnderTest dataset("records", {{"path", folder.path().string()},
                                             {"text", "about {{id}}"},
                                             {"task", "kernelbench/{{place.file}}"},
                                             {"meta", Value::json(R"(["speed"])")},
                                             {"where", Value::json(R"(["speed >= 2"])")},
                                             {"limit", 5}});
  ASSERT_EQ(dataset.size(), 5u);
  const Item first = dataset.read(0);
  EXPECT_EQ(first.text, "about r4");
  EXPECT_EQ(first.task_hint, "kernelbench/r4");
  EXPECT_EQ(first.meta_json, R"({"speed":2.0})");
  EXPECT_EQ(first.id, (folder / "a.parquet").string() + "#4");
  EXPECT_THAT(dataset.messages(),
              ElementsAre(HasSubstr((folder / "a-broken.parquet").string() + ": ")));
}

TEST(RecordsPlugin, KeepsAllColumnsThatHaveAValue) {
  const ScratchFolder folder;
  write_parquet(folder / "a.parquet", 2, 2);
  write(folder / "b.jsonl", R"({"id": "u", "n": null, "profile": "{'a': (1, 2)}"})");
  const DatasetUnderTest dataset(
      "records",
      {{"path", folder.path().string()}, {"text", "{{id}}"}, {"meta", Value::json(R"(["*"])")}});
  const json parquet = json::parse(dataset.read(0).meta_json);
  EXPECT_EQ(parquet["id"], "r0");
  EXPECT_TRUE(parquet.contains("place")) << parquet;
  EXPECT_EQ(dataset.read(2).meta_json, R"({"id":"u","profile":{"a":[1,2]}})");
}

TEST(RecordsPlugin, RefusesWhatItCannotDo) {
  const ScratchFolder folder;
  const std::string file = (folder / "a.parquet").string();
  write_parquet(file, 4, 4);
  EXPECT_THAT(refusal("records", {{"path", file}}), HasSubstr("give either prompt and answer"));
  EXPECT_THAT(refusal("records", {{"path", file}, {"answer", "{{id}}"}}),
              HasSubstr("needs a prompt"));
  EXPECT_EQ(refusal("records", {{"path", file}, {"text", "{{idd}}"}}),
            file + ": there is no column 'idd'; did you mean 'id'?");
  EXPECT_EQ(
      refusal("records",
              {{"path", file}, {"text", "{{speed}}"}, {"where", Value::json(R"(["id == 'r2'"])")}}),
      "no record of " + file + " is left: of 4 records, `where` excludes 3, 1 have no 'speed'");
  EXPECT_THAT(refusal("records", {{"path", "/nowhere.parquet"}, {"text", "{{id}}"}}),
              HasSubstr("/nowhere.parquet: "));
}

}  // namespace
}  // namespace krl::testing

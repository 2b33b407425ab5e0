/* Readers of opensm-lfts.dump, opensm-sl2vl.dump and .psl, as obliv writes them. */

#include "files.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE 4096
#define NONE 0xff

/* A file that is being read. */
struct reader {
	FILE *file;
	const char *path;
	unsigned number;	/* of the line */
	char line[LINE];
	char *why;
};

static int refuse(struct reader *reader, const char *text, ...)
{
	va_list words;
	int length = snprintf(reader->why, WHY, "%.512s:%u: ", reader->path, reader->number);

	va_start(words, text);
	vsnprintf(reader->why + length, WHY - (size_t)length, text, words);
	va_end(words);
	return -1;
}

/* Read the next line that is neither empty nor a comment; 0 at the end of the file, -1 for a line that is too long. */
static int next_line(struct reader *reader, char **text)
{
	while (fgets(reader->line, LINE, reader->file)) {
		reader->number++;
		if (!strchr(reader->line, '\n') && !feof(reader->file))
			return refuse(reader, "a line of more than %d bytes", LINE - 2);
		*text = reader->line + strspn(reader->line, " \t\r\n");
		if (**text && **text != '#')
			return 1;
	}
	return ferror(reader->file) ? refuse(reader, "cannot be read: %s", strerror(errno)) : 0;
}

/* Take a number from 0 to `most` and the blanks behind it. */
static int number_at(char **text, int base, uint64_t most, uint64_t *number)
{
	char *end;

	if (base == 16 && strncmp(*text, "0x", 2))
		return 0;
	if (!isxdigit((unsigned char)**text))
		return 0;
	errno = 0;
	*number = strtoull(*text, &end, base);
	if (end == *text || errno || *number > most)
		return 0;
	*text = end + strspn(end, " \t\r\n");
	return 1;
}

/* Return an array with room for one more, or NULL. */
static void *grown(void *array, unsigned count, size_t size)
{
	return count & (count - 1) ? array : realloc(array, (count ? 2 * (size_t)count : 1) * size);
}

static int guid_behind(const char *text, const char *mark, uint64_t *guid)
{
	const char *found = strstr(text, mark);
	char *end;

	if (!found)
		return 0;
	*guid = strtoull(found + strlen(mark), &end, 16);
	return end > found + strlen(mark) && *guid;
}

/* Note the port that has a LID. */
static int owned(struct plan *plan, struct reader *reader, unsigned lid, uint64_t guid)
{
	struct owner *owner = &plan->owner[lid];

	if (owner->guid && owner->guid != guid)
		return refuse(reader, "LID %u is of port 0x%016" PRIx64 " here and of 0x%016" PRIx64 " before", lid, guid,
			      owner->guid);
	owner->guid = guid;
	return 0;
}

static int read_tables(struct plan *plan, struct reader *reader)
{
	struct table *table = NULL;
	char *text;
	int more;

	while ((more = next_line(reader, &text)) > 0) {
		uint64_t lid, out, guid;

		if (!strncmp(text, "Unicast lids", 12)) {
			struct table **tables = grown(plan->table, plan->tables, sizeof *tables);
			if (!tables)
				return refuse(reader, "not enough memory");
			plan->table = tables;
			if (!guid_behind(text, " guid 0x", &guid))
				return refuse(reader, "a table without the GUID of its switch");
			table = malloc(sizeof *table);
			if (!table)
				return refuse(reader, "not enough memory");
			table->guid = guid;
			memset(table->out, NONE, sizeof table->out);
			tables[plan->tables++] = table;
		} else if (!strncmp(text, "0x", 2)) {
			if (!table)
				return refuse(reader, "a row before the heading of its table");
			if (!number_at(&text, 16, LIDS - 1, &lid) || !lid || !number_at(&text, 10, NONE - 1, &out))
				return refuse(reader, "invalid row: a LID from 0x1 to 0x%x and a port", LIDS - 1);
			table->out[lid] = (uint8_t) out;
			if (lid > plan->top)
				plan->top = (unsigned)lid;
			if (guid_behind(text, " portguid 0x", &guid) && owned(plan, reader, (unsigned)lid, guid))
				return -1;
		} else if (!isdigit((unsigned char)*text)) {	/* "14 lids dumped" */
			return refuse(reader, "not a line of forwarding tables");
		}
	}
	return more;
}

static int read_rows(struct plan *plan, struct reader *reader)
{
	uint64_t guid = 0;
	char *text;
	int more, adapter = 0;

	while ((more = next_line(reader, &text)) > 0) {
		struct row *row;
		uint64_t in, out, vl;
		unsigned sl;

		if (!isdigit((unsigned char)*text)) {
			char *at = strstr(text, " 0x");
			adapter = strncmp(text, "Switch ", 7) != 0;
			if (!at || !guid_behind(text, " 0x", &guid))
				return refuse(reader, "a heading without a GUID");
			continue;
		}
		if (!guid)
			return refuse(reader, "a row before the heading of its table");
		row = grown(plan->row, plan->rows, sizeof *row);
		if (!row)
			return refuse(reader, "not enough memory");
		plan->row = row;
		row += plan->rows;
		if (!number_at(&text, 10, 254, &in) || !number_at(&text, 10, 254, &out) || *text != ':')
			return refuse(reader, "invalid row: two ports, a colon and 16 VLs");
		text += 1 + strspn(text + 1, " \t");
		for (sl = 0; sl < 16; sl++) {
			if (!number_at(&text, 10, 15, &vl))
				return refuse(reader, "invalid row: 16 VLs from 0 to 15");
			row->vl[sl] = (uint8_t) vl;
		}
		row->guid = guid;
		row->in = adapter ? 0 : (uint8_t) in;
		row->out = adapter ? 0 : (uint8_t) out;
		plan->rows++;
	}
	return more;
}

static int read_levels(struct plan *plan, struct reader *reader)
{
	struct source *source = NULL;
	char *text;
	int more;

	while ((more = next_line(reader, &text)) > 0) {
		uint64_t guid, lid, sl;

		if (!number_at(&text, 16, UINT64_MAX, &guid) || !number_at(&text, 10, LIDS - 1, &lid) ||
		    !number_at(&text, 10, 15, &sl))
			return refuse(reader, "invalid line: the GUID of a node, a LID and a service level");
		if (!source || source->guid != guid) {	/* lines of a source stand together */
			struct source *all = grown(plan->source, plan->sources, sizeof *all);
			if (!all)
				return refuse(reader, "not enough memory");
			plan->source = all;
			source = &all[plan->sources];
			source->guid = guid;
			source->sl = malloc(plan->top + 1);
			if (!source->sl)
				return refuse(reader, "not enough memory");
			memset(source->sl, -1, plan->top + 1);
			plan->sources++;
		}
		if (lid > plan->top)
			return refuse(reader, "LID %u is not in the forwarding tables", (unsigned)lid);
		source->sl[lid] = (int8_t) sl;
		plan->used |= 1u << sl;
	}
	return more;
}

static int by_guid(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int tables_by_guid(const void *a, const void *b)
{
	return by_guid((*(struct table * const *)a)->guid, (*(struct table * const *)b)->guid);
}

static int rows_by_guid(const void *a, const void *b)
{
	const struct row *one = a, *two = b;
	int order = by_guid(one->guid, two->guid);

	return order ? order : (one->in << 8 | one->out) - (two->in << 8 | two->out);
}

static int sources_by_guid(const void *a, const void *b)
{
	return by_guid(((const struct source *)a)->guid, ((const struct source *)b)->guid);
}

/* Say which node a file names twice; after sorting, two of one name are side by side. */
static int unique(const struct plan *plan, char *const path[FILES], char *why)
{
	unsigned k;

	for (k = 1; k < plan->tables; k++)
		if (plan->table[k - 1]->guid == plan->table[k]->guid) {
			snprintf(why, WHY, "%.512s: two tables of switch 0x%016" PRIx64, path[LFTS],
				 plan->table[k]->guid);
			return 0;
		}
	for (k = 1; k < plan->rows; k++)
		if (!rows_by_guid(&plan->row[k - 1], &plan->row[k])) {
			snprintf(why, WHY, "%.512s: two rows from port %u to port %u of 0x%016" PRIx64, path[SL2VL],
				 plan->row[k].in, plan->row[k].out, plan->row[k].guid);
			return 0;
		}
	for (k = 1; k < plan->sources; k++)
		if (plan->source[k - 1].guid == plan->source[k].guid) {
			snprintf(why, WHY, "%.512s: the lines of 0x%016" PRIx64 " do not stand together", path[PSL],
				 plan->source[k].guid);
			return 0;
		}
	return 1;
}

/* Number the LIDs of each port: they follow each other. */
static void count_offsets(struct plan *plan)
{
	unsigned lid;

	for (lid = 1; lid <= plan->top; lid++) {
		struct owner *owner = &plan->owner[lid];
		owner->offset = owner->guid && owner->guid == owner[-1].guid ? owner[-1].offset + 1 : 0;
	}
}

struct plan *plan_read(char *const path[FILES], char why[WHY])
{
	static int (*const read[FILES])(struct plan *, struct reader *) = { read_tables, read_rows, read_levels };
	struct plan *plan = calloc(1, sizeof *plan);
	int file, failed = !plan;

	snprintf(why, WHY, "not enough memory");
	for (file = 0; !failed && file < FILES; file++) {
		struct reader reader = { .path = path[file], .why = why };
		if (!path[file])
			continue;
		reader.file = fopen(path[file], "r");
		if (!reader.file) {
			snprintf(why, WHY, "%.512s: cannot be opened: %s", path[file], strerror(errno));
			failed = 1;
			continue;
		}
		failed = read[file] (plan, &reader) != 0;
		fclose(reader.file);
		if (!failed && !(file == LFTS ? plan->tables : file == SL2VL ? plan->rows : plan->sources))
			failed = refuse(&reader, "contains nothing");
	}
	if (failed) {
		plan_free(plan);
		return NULL;
	}
	if (!path[PSL])
		plan->used = 1;	/* what OpenSM answers by default */
	count_offsets(plan);
	qsort(plan->table, plan->tables, sizeof *plan->table, tables_by_guid);
	if (plan->rows)
		qsort(plan->row, plan->rows, sizeof *plan->row, rows_by_guid);
	if (plan->sources)
		qsort(plan->source, plan->sources, sizeof *plan->source, sources_by_guid);
	if (!unique(plan, path, why)) {
		plan_free(plan);
		return NULL;
	}
	return plan;
}

void plan_free(struct plan *plan)
{
	unsigned k;

	if (!plan)
		return;
	for (k = 0; k < plan->tables; k++)
		free(plan->table[k]);
	for (k = 0; k < plan->sources; k++)
		free(plan->source[k].sl);
	free(plan->table);
	free(plan->row);
	free(plan->source);
	free(plan);
}

const struct table *table_in(const struct plan *plan, uint64_t guid)
{
	unsigned low = 0, high = plan->tables;

	while (low < high) {
		unsigned middle = (low + high) / 2;
		if (plan->table[middle]->guid < guid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < plan->tables && plan->table[low]->guid == guid ? plan->table[low] : NULL;
}

const uint8_t *row_in(const struct plan *plan, uint64_t guid, unsigned in, unsigned out)
{
	struct row key = { .guid = guid, .in = (uint8_t) in, .out = (uint8_t) out };
	const struct row *row = plan->rows ? bsearch(&key, plan->row, plan->rows, sizeof key, rows_by_guid) : NULL;

	return row ? row->vl : NULL;
}

int level_in(const struct plan *plan, uint64_t guid, unsigned lid)
{
	struct source key = { .guid = guid };
	const struct source *source =
	    plan->sources ? bsearch(&key, plan->source, plan->sources, sizeof key, sources_by_guid) : NULL;

	return source && lid <= plan->top ? source->sl[lid] : -1;
}

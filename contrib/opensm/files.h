/* The files of "obliv fabric route", as arrays. */

#ifndef OBLIV_FILES_H
#define OBLIV_FILES_H

#include <stdint.h>

#define LIDS 0xc000		/* one more than the last unicast LID */
#define WHY 1024		/* bytes of a message */

enum { LFTS, SL2VL, PSL, FILES };

struct owner {
	uint64_t guid;		/* of the port with a LID, 0 for none */
	uint16_t offset;	/* of the LID among those of the port */
};

struct table {
	uint64_t guid;
	uint8_t out[LIDS];	/* the port for each LID, 0xff for none */
};

struct row {
	uint64_t guid;		/* of a switch, or of the port of an adapter, whose ports count as 0 */
	uint8_t in, out, vl[16];
};

struct source {
	uint64_t guid;		/* of the node */
	int8_t *sl;		/* for each LID up to the top, -1 for none */
};

/* Tables and rows are sorted by GUID, so are the sources. */
struct plan {
	unsigned top;		/* LID */
	unsigned tables, rows, sources;
	unsigned used;		/* service levels of pairs, as bits */
	struct table **table;
	struct row *row;
	struct source *source;
	struct owner owner[LIDS];
};

/* Read the files that are named; NULL with a line that says why not. */
struct plan *plan_read(char *const path[FILES], char why[WHY]);
void plan_free(struct plan *plan);

const struct table *table_in(const struct plan *plan, uint64_t guid);
const uint8_t *row_in(const struct plan *plan, uint64_t guid, unsigned in, unsigned out);
int level_in(const struct plan *plan, uint64_t guid, unsigned lid);	/* -1 for none */

#endif

/*
 * Routing engine "obliv" for OpenSM: forwarding tables, SL-to-VL tables and service levels of pairs, from files that
 * "obliv fabric route" writes.
 *
 *     event_plugin_name obliv
 *     event_plugin_options lfts=/etc/opensm/new.lfts,sl2vl=/etc/opensm/new.sl2vl,psl=/etc/opensm/new.psl
 *     routing_engine obliv
 *
 * The files are read at every heavy sweep, so new ones take effect with a SIGHUP. Either all of them are used or none:
 * where they do not fit the fabric, the log says why and OpenSM goes on to the next engine of its list.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <complib/cl_qmap.h>
#include <opensm/osm_config.h>
#include <opensm/osm_log.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_switch.h>
#include <opensm/osm_version.h>

#include "files.h"

#if OSM_EVENT_PLUGIN_INTERFACE_VER != 2
#error "this plug-in is for version 2 of the interface of OpenSM's plug-ins"
#endif

#define SAY(engine, level, ...) osm_log(&(engine)->osm->log, level, "obliv: " __VA_ARGS__)

struct engine {
	osm_opensm_t *osm;
	char *path[FILES];		/* of forwarding tables, SL-to-VL tables, service levels; NULL where not given */
	struct plan *plan;		/* in use; NULL before the first one */
	int now[LIDS];			/* the LID in the subnet of each LID of the files: see lid_now */
	uint16_t known[LIDS];		/* the LID in the files of each LID of the subnet, 0 for none */
};

static const char *const option[FILES] = { "lfts", "sl2vl", "psl" };

/* Lanes of a cable: what both of its ends can operate, and OpenSM lets them. */
static unsigned lanes_of(const struct engine *engine, const osm_physp_t *port)
{
	static const unsigned count[] = { 1, 1, 2, 4, 8, 15 };	/* by the code in PortInfo */
	const osm_physp_t *peer = osm_physp_get_remote(port);
	unsigned code = ib_port_info_get_vl_cap(&port->port_info);

	if (peer && ib_port_info_get_vl_cap(&peer->port_info) < code)
		code = ib_port_info_get_vl_cap(&peer->port_info);
	if (engine->osm->subn.opt.max_op_vls && engine->osm->subn.opt.max_op_vls < code)
		code = engine->osm->subn.opt.max_op_vls;
	return count[code < 5 ? code : 5];
}

/* Return the LID in the subnet of a LID of the files, 0 where its port is not in the subnet, -1 where it cannot be. */
static int lid_now(const struct engine *engine, const struct plan *plan, unsigned lid)
{
	const struct owner *owner = &plan->owner[lid];
	osm_port_t *port;
	uint16_t low, high;

	if (!owner->guid)
		return -1;
	port = osm_get_port_by_guid(&engine->osm->subn, cl_hton64(owner->guid));
	if (!port)
		return 0;
	osm_port_get_lid_range_ho(port, &low, &high);
	return low && low + owner->offset <= high ? low + owner->offset : -1;
}

/* Write the forwarding table of a switch, once (write = 1) everything was checked. */
static int table_of(const struct engine *engine, const struct plan *plan, osm_switch_t *sw, int write)
{
	uint64_t guid = cl_ntoh64(osm_node_get_node_guid(sw->p_node));
	const struct table *table = table_in(plan, guid);
	unsigned lid;

	if (!table) {
		SAY(engine, OSM_LOG_ERROR, "%s has no table of switch 0x%016" PRIx64 "\n", engine->path[LFTS], guid);
		return -1;
	}
	if (write)
		memset(sw->new_lft, OSM_NO_PATH, sw->lft_size);
	for (lid = 1; lid <= plan->top; lid++) {
		uint8_t out = table->out[lid];
		int now = out == OSM_NO_PATH ? 0 : engine->now[lid];
		osm_physp_t *port;

		if (now < 0 || now > sw->max_lid_ho) {
			SAY(engine, OSM_LOG_ERROR, "%s: the port of LID %u has fewer LIDs now, or is not named: use the LMC "
			    "of the tables (opensm -l)\n", engine->path[LFTS], lid);
			return -1;
		}
		if (!now)
			continue;
		port = out < sw->num_ports ? osm_node_get_physp_ptr(sw->p_node, out) : NULL;
		if (out && (!port || !osm_physp_get_remote(port))) {
			SAY(engine, OSM_LOG_ERROR, "%s: switch 0x%016" PRIx64 " reaches LID %u by port %u, which has no link\n",
			    engine->path[LFTS], guid, lid, out);
			return -1;
		}
		if (write) {
			sw->new_lft[now] = out;
			osm_switch_count_path(sw, out);
		}
	}
	return 0;
}

/* Check that cables operate the lanes of the service levels of pairs: OpenSM would take other ones, and say nothing. */
static int lanes_fit(const struct engine *engine, const struct plan *plan, osm_switch_t *sw)
{
	uint64_t guid = cl_ntoh64(osm_node_get_node_guid(sw->p_node));
	unsigned in, out, sl;

	for (out = 1; out < sw->num_ports; out++) {
		const osm_physp_t *port = osm_node_get_physp_ptr(sw->p_node, out);
		if (!port || !osm_physp_get_remote(port))
			continue;
		for (in = 0; in < sw->num_ports; in++) {
			const uint8_t *row = row_in(plan, guid, in, out);
			for (sl = 0; row && sl < 16; sl++)
				if (plan->used >> sl & 1 && row[sl] >= lanes_of(engine, port)) {
					SAY(engine, OSM_LOG_ERROR, "%s: VL %u at port %u of switch 0x%016" PRIx64 ", whose cable "
					    "operates %u\n", engine->path[SL2VL], row[sl], out, guid, lanes_of(engine, port));
					return -1;
				}
		}
	}
	return 0;
}

static int build_tables(void *context)
{
	struct engine *engine = context;
	cl_qmap_t *switches = &engine->osm->subn.sw_guid_tbl;
	cl_map_item_t *item;
	struct plan *plan;
	char why[WHY];
	unsigned lid;
	int write;

	if (engine->path[SL2VL] && !engine->osm->subn.opt.qos) {
		SAY(engine, OSM_LOG_ERROR, "without QoS OpenSM writes no SL-to-VL tables: start it with -Q\n");
		return -1;
	}
	plan = plan_read(engine->path, why);
	if (!plan) {
		SAY(engine, OSM_LOG_ERROR, "%s\n", why);
		return -1;
	}
	for (lid = 1; lid <= plan->top; lid++)
		engine->now[lid] = lid_now(engine, plan, lid);
	for (write = 0; write < 2; write++)
		for (item = cl_qmap_head(switches); item != cl_qmap_end(switches); item = cl_qmap_next(item)) {
			osm_switch_t *sw = (osm_switch_t *) item;
			if (table_of(engine, plan, sw, write) || lanes_fit(engine, plan, sw)) {
				plan_free(plan);
				return -1;
			}
		}
	memset(engine->known, 0, sizeof engine->known);
	for (lid = 1; lid <= plan->top; lid++)
		if (engine->now[lid] > 0)
			engine->known[engine->now[lid]] = (uint16_t) lid;
	plan_free(engine->plan);
	engine->plan = plan;
	SAY(engine, OSM_LOG_INFO, "%u tables, %u rows of SL-to-VL tables, service levels from %u hosts\n",
	    plan->tables, plan->rows, plan->sources);
	return 0;
}

/* Give a port its lanes; ports that the file does not name keep those of OpenSM. */
static void update_sl2vl(void *context, osm_physp_t *port, uint8_t in, uint8_t out, ib_slvl_table_t *t)
{
	struct engine *engine = context;
	osm_node_t *node = osm_physp_get_node_ptr(port);
	const uint8_t *row = NULL;
	unsigned sl;

	if (!engine->plan || !engine->path[SL2VL])
		return;
	if (osm_node_get_type(node) == IB_NODE_TYPE_SWITCH)
		row = row_in(engine->plan, cl_ntoh64(osm_node_get_node_guid(node)), in, out);
	else
		row = row_in(engine->plan, cl_ntoh64(osm_physp_get_port_guid(port)), 0, 0);
	for (sl = 0; row && sl < 16; sl++)
		ib_slvl_table_set(t, (uint8_t) sl, row[sl]);
}

/* Return the service level of a pair; pairs that the file does not name keep that of OpenSM's policy. */
static uint8_t path_sl(void *context, uint8_t hint, const ib_net16_t slid, const ib_net16_t dlid)
{
	struct engine *engine = context;
	unsigned from = cl_ntoh16(slid), lid = cl_ntoh16(dlid) < LIDS ? engine->known[cl_ntoh16(dlid)] : 0;
	osm_port_t *source = from < LIDS ? osm_get_port_by_lid(&engine->osm->subn, slid) : NULL;
	int sl;

	if (!engine->plan || !engine->path[PSL] || !source || !lid)
		return hint;
	sl = level_in(engine->plan, cl_ntoh64(osm_node_get_node_guid(source->p_node)), lid);
	return sl < 0 ? hint : (uint8_t) sl;
}

static void forget(void *context)
{
	struct engine *engine = context;

	plan_free(engine->plan);
	engine->plan = NULL;
}

static int set_up(struct osm_routing_engine *routing, osm_opensm_t *osm)
{
	struct engine *engine = routing->context;

	(void)osm;
	if (!engine->path[LFTS]) {
		SAY(engine, OSM_LOG_ERROR, "name the tables in opensm.conf: event_plugin_options lfts=FILE[,sl2vl=FILE]"
		    "[,psl=FILE]\n");
		return -1;
	}
	routing->ucast_build_fwd_tables = build_tables;
	routing->update_sl2vl = engine->path[SL2VL] ? update_sl2vl : NULL;
	routing->path_sl = engine->path[PSL] ? path_sl : NULL;
	routing->destroy = forget;
	return 0;
}

static void delete_engine(void *data)
{
	struct engine *engine = data;
	int file;

	if (!engine)
		return;
	forget(engine);
	for (file = 0; file < FILES; file++)
		free(engine->path[file]);
	free(engine);
}

/* Take the names of the files from "lfts=FILE,sl2vl=FILE,psl=FILE". */
static int take_options(struct engine *engine, const char *given)
{
	while (given && *given) {
		size_t length = strcspn(given, ", \t\n");
		int file;

		for (file = 0; length && file < FILES; file++) {
			size_t name = strlen(option[file]);
			if (length > name + 1 && !strncmp(given, option[file], name) && given[name] == '=') {
				free(engine->path[file]);
				engine->path[file] = strndup(given + name + 1, length - name - 1);
				break;
			}
		}
		if (file == FILES && length) {
			SAY(engine, OSM_LOG_ERROR, "unknown option '%.*s' of event_plugin_options: lfts=FILE, sl2vl=FILE or "
			    "psl=FILE\n", (int)length, given);
			return -1;
		}
		given += length;
		given += strspn(given, ", \t\n");
	}
	return 0;
}

static void *create(osm_opensm_t *osm)
{
	struct engine *engine = calloc(1, sizeof *engine);
	external_routing_engine_module_t module = { "obliv", set_up, engine };

	if (!engine)
		return NULL;
	engine->osm = osm;
	if (take_options(engine, osm->subn.opt.event_plugin_options) ||
	    osm_register_external_routing_engine(osm, &module, engine) != CL_SUCCESS) {
		delete_engine(engine);
		return NULL;
	}
	return engine;
}

__attribute__((visibility("default")))
osm_event_plugin_t osm_event_plugin = { OSM_VERSION, create, delete_engine, NULL };

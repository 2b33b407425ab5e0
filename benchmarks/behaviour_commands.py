"""The commands that `behaviour.py` runs: those of the docs, examples in the help, and tables of lines with {some|alternatives}.

A line is run for every choice of its alternatives, in a folder with the files of its setup: FILES, and what the
commands of SETUPS wrote. Lines of SCRIPTS are Python, for what no verb reaches.
"""

# ruff: noqa: E501
# A line of a table is not broken.
from __future__ import annotations

import hashlib
import itertools
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["FILES", "SETUPS", "chains", "unused"]

ROOT = Path(__file__).resolve().parents[1]

#: Asks the page of `explore` for its first bytes, then ends it.
_EXPLORE = """\
import contextlib, io, os, re, signal, sys, threading, time, urllib.request
from obliv.cli import main

said = io.StringIO()

def ask():
    while not (url := re.search(r"http://\\S+/", said.getvalue())):
        time.sleep(0.05)
    with urllib.request.urlopen(url[0]) as answer:
        text = answer.read().decode()
    title = re.search(r"<title>.*?</title>", text)
    print(answer.status, title and title[0], len(text) // 4096, file=sys.stderr)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=ask, daemon=True).start()
with contextlib.redirect_stdout(said):
    status = main("explore mesh:3x3 dor --traffic transpose --no-browser".split())
print(status)
"""

#: Examples in the help that measure time, take half a minute and more, or serve a page until they are interrupted.
LEFT_OUT = (
    r"obliv (reproduce (towles|u2turn|fat-tree|bufferless)|design mesh:5x5 --paths 4 --quantize 64)$"
    r"|obliv explore torus:5x5 romm"
)

#: Small files that commands read, good and bad ones; "\udcff" is a byte that is no UTF-8.
FILES = {
    "square.txt": "# a square\n0 1\n1 2\n2 3\n3 0\n0 2 1/2\n",
    "named.csv": "source,target,bandwidth\nparis,rome,2\nrome,bern,1\nbern,paris,1/2\n",
    "net.graphml": '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">'
    '<node id="a"/><node id="b"/><node id="c"/><edge source="a" target="b"/><edge source="b" target="c"/>'
    '<edge source="c" target="a"/></graph></graphml>\n',
    "net.gml": 'graph [\n node [ id 1 label "x" ]\n node [ id 2 label "y" ]\n edge [ source 1 target 2 ]\n]\n',
    "net.dot": "graph g { a -- b; b -- c; c -- d; d -- a }\n",
    "net.anynet": "router 0 node 0 router 1\nrouter 1 node 1 router 2\nrouter 2 node 2 router 0\n",
    "levels.txt": "0 2\n1 2\n2 3\n2 4\n",
    "bomb.graphml": '<!DOCTYPE g [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><graphml><graph>&b;</graph></graphml>\n',
    "cut.graphml": '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected"><node id="a"\n',
    "bytes.txt": "0 1\n1 \udcff\udcfe\n",
    "empty.txt": "",
    "words.txt": "these are some words\nand no network\n",
    "apart.txt": "0 1\n2 3\n",
    "far.txt": "0 99999999999\n",
    "rates.txt": "1\n1/2\n2\n1\n",
    "swap.txt": "1 0 3 2\n",
    "twice.txt": "1 1 3 2\n",
    "short.txt": "1 0\n",
    "demand.txt": "0 1 0 0\n0 0 1/2 1/2\n1 0 0 0\n0 0 1/3 0\n",
    "ragged.txt": "0 1 0\n0 0 1 0\n",
    "negative.txt": "0 -1 0 0\n0 0 0 0\n0 0 0 0\n0 0 0 0\n",
    "flows.txt": "0 1 1\n1 2 1/2\n3 0 2\n",
    "hops.txt": "0 1: 1\n",
    "paths.txt": "0 1 1: 0 1\n0 2 1: 0 2\n0 3 1/2: 0 3\n0 3 1/2: 0 2 3\n",
    "hosts.txt": "host(0,0)\nhost(1,0)\nhost(2,1)\nhost(3,1)\n",
    "nobody.txt": "host(0,0)\nnobody\n",
    "limits.toml": 'pairs = "all"\nworst_load = 2\ncredit_loops = false\nidle_cables = 0\n',
    "loose.toml": "worst_load = 99\nuniform_load = 4\n",
    "wrong.toml": "wurst_load = 2\n",
    "broken.toml": "pairs = \n",
    "plan.csv": "switch((0),1),5,switch((0),0),1\nswitch((9),1),5,switch((0),0),2\n",
    "own.py": 'import obliv\n\n\n@obliv.register_traffic("to-zero", example="to-zero")\n'
    'def to_zero(topology):\n    """Everybody sends to terminal 0."""\n    n = topology.terminal_count\n'
    "    return [[int(d == 0 and s != 0) for d in range(n)] for s in range(n)]\n",
    "explore.py": _EXPLORE,
    "fails.py": "raise RuntimeError('no such plug-in')\n",
    "syntax.py": "def (:\n",
    "damage.py": "import sys\n\nsource, target, *words = sys.argv[1:]\n"
    "lines = open(source).read().splitlines(True)\n"
    "open(target, 'w').write(''.join(line for line in lines if not any(word in line for word in words)))\n",
    "forge.py": "import sys\n\nsource, target, old, new = sys.argv[1:]\ntext = open(source).read()\n"
    "print(text.count(old))\nopen(target, 'w').write(text.replace(old, new, 1))\n",
    "small.study.toml": 'topologies = ["mesh:{k}x{k}", "ring:5"]\nroutings = ["dor", "ecmp", "o1turn"]\n'
    'measures = ["worst", "hops", "deadlock", { measure = "throughput", traffic = ["uniform", "transpose"] }]\n'
    '\n[ranges]\nk = "2..4"\n',
    "other.study.toml": 'topologies = ["mesh:3x3"]\nroutings = ["dor", "valiant"]\nmeasures = ["worst", "hops"]\n',
    "unknown.study.toml": 'topologies = ["mesh:3x3"]\nroutings = ["dro"]\nmeasures = ["wurst"]\n',
}

#: What a setup makes before its commands run.
SETUPS = {
    "files": [],
    "saved": [
        "obliv worst torus:4x4 romm -o worst.json",
        "obliv worst mesh:3x3 o1turn --channels -o channels.json.gz",
        "obliv design mesh:3x3 -o design.json",
        "obliv design ring:5 --objective ratio -o design-ratio.json",
        "obliv bounds mesh:3x3 -o bounds.json",
        "obliv ratio fattree:4,2 dmodk -o ratio.json",
        "obliv ratio mesh:3x3 dor --traffic transpose -o traffic-ratio.json",
        "obliv failures ring:4 updown -o failures.json",
        "obliv failures mesh:3x3 shortest --repair ecmp -o repaired.json",
        "obliv collisions fattree:4,2 shift:2 --flows 2 -o collisions.json",
        "obliv throughput mesh:4x4 dor uniform transpose -o throughput.json",
        "obliv average mesh:3x3 dor --samples 200 -o average.json",
        "obliv compare mesh:4x4 dor o1turn --samples 200 -o compare.json",
        "obliv deadlock ring:4 dor -o deadlock.json",
        "obliv bufferless butterfly:3 -o direct.json",
        "obliv bufferless butterfly:4 -a hot-potato -o hot-potato.json.gz",
        "obliv bufferless butterfly:4 -a centralized --constants tuned -o waves.json",
        "python forge.py worst.json cut.json '\"permutation\"' '\"permuted\"'",
        'python forge.py worst.json forged.json \'"exact":"3/2\' \'"exact":"5/4\'',
        'python forge.py ratio.json over.json \'"exact":"\' \'"exact":"1\'',
    ],
    "fabric": [
        "obliv fabric generate fattree:8,2 -o f.net --routing dmodk --tables f.lfts",
        "obliv fabric generate fattree:4,3 -o t.net --routing dmodk --tables t.lfts",
        "obliv fabric generate fattree:4,3 -o s.net --routing shortest --tables s.lfts",
        "obliv fabric generate torus:3x5 -o m.net --routing dor --tables m.lfts --adaptive minimal --far m.far",
        "obliv fabric generate fattree:4,2 -o a.net --routing dmodk --tables a.lfts --adaptive updn --far a.far",
        "obliv fabric route m.net --engine dor-dateline --lanes 2 --psl r.psl --sl2vl r.sl2vl -o r.lfts --net r.net",
        "obliv fabric route f.net --engine osrm2 -o two.lfts --net two.net",
        "python damage.py f.net cable.net 'S-0002c90200001020\"[1]' '[1]\t\"S-0002c90200001000'",
        "python damage.py f.lfts rows.lfts '0x0003 '",
        "obliv fabric whatif f.net --lft f.lfts --fail 'switch((0),1)/5' -o whatif.json",
        "obliv fabric worst f.net --lft f.lfts -o worst.json",
        "obliv fabric failures t.net --lft t.lfts -o failures.json",
        "obliv fabric check f.net --lft f.lfts -o check.json",
        "obliv fabric ratio f.net --lft f.lfts -o ratio.json",
    ],
    "study": [
        "obliv study run small.study.toml --store small.db --jobs 1 --skip-impossible",
        "obliv study run other.study.toml --store other.db --jobs 1",
    ],
}

_FORMATS = "{table|json|csv|markdown|latex}"

TABLE = {
    "files": f"""
        obliv
        obliv --version
        obliv --version --verbose
        obliv --verbose
        obliv {{wrost|version|mesh:3x3|fabric wrost|study run.toml|plot mesh:3x3|help worst|fabric help route}}
        obliv worst mesh:3x3 dor {{romm|--json|--seed x|--seed -1|--jobs 0|--symmetry never|--format xml|-o|--samples 2.5}}
        obliv worst {{mesh:4x4|torus:4x4|torus:3x5|mesh:3x3x3}} {{dor|dor:yx|romm|valiant|o1turn|ecmp}}
        obliv worst mesh:4x4 {{xyx|yxy|u2turn|u2turn-a:p=1/3|west-first|north-last|negative-first|odd-even|ival|i2turn}}
        obliv worst torus:4x4 {{shortest|updown|hash:seed=1|sampled:4,base=ecmp|kpath:3|wsr|'1/3*dor+2/3*valiant'|weighted-2turn}}
        obliv worst fattree:4,2 {{dmodk|smodk|omrmn|osrm2|osrm2-c|osrm-k:2|osrmn|kpath:2|hash:seed=3}}
        obliv worst {{hyperx:3x3|complete:5|hypercube:4|ring:9|line:5|twisted-torus:4x2,twist=2}} {{dor|valiant}}
        obliv worst {{circulant:9,1x2|debruijn:d=2,n=3|kautz:d=2,n=2|slimfly:3|random-regular:n=12,d=3,seed=1}} ecmp
        obliv worst {{dragonfly:p=1,a=2,h=1|megafly:p=1,leaves=2,spines=2,h=1|cmesh:2x2,c=2|subft:4,2|eft2:4,3|sub-eft2:4,3}} ecmp
        obliv worst {{rail:rails=2,nodes=4,leaf=2,spines=2|xgft:2;2,4;1,2|damaged:mesh:3x3,0-1|graph:petersen|butterfly:2}} ecmp
        obliv worst {{file:square.txt|file:named.csv|file:net.graphml|file:net.gml|file:net.dot|file:net.anynet}} {{ecmp|shortest}}
        obliv worst {{file:bomb.graphml|file:cut.graphml|file:bytes.txt|file:empty.txt|file:words.txt|file:apart.txt|file:far.txt|file:none.txt|file:.}} ecmp
        obliv worst {{|:|torus|torus:|torus:x|torus:1x9|torus:3.5x3|tours:3x3|ring:1|line:a|hypercube:0|random-regular:n=7,d=3|complete:9999999|torus:99999x99999|graph:none|petersen|topohub:none|damaged:mesh:3x3,0-8|slimfly:6|fattree:7,2|mesh:3x3+mesh:3x3}} dor
        obliv worst mesh:3x3 {{|dor:|dor:xx|dorr|romm:q|valiant:2|0.5*dor|dor+romm|1/0*dor+1*romm|table:|table:none.txt|table:hops.txt|table:empty.txt|table:words.txt|design:none.json|dmodk|lft:none|2turn:3}}
        obliv worst file:square.txt table:{{hops.txt|paths.txt|bytes.txt}}
        obliv worst torus:4x4 {{ecmp|dor}} --symmetry {{auto|search|off}}
        obliv worst mesh:3x3 romm --samples 50 --seed {{1|2}}
        obliv worst mesh:3x3 dor {{--channels|--certificate|--jobs 2|--executor nothing|--dask nowhere}} --format json
        obliv worst mesh:3x3 dor --mpi --jobs 2
        obliv worst torus:4x4 romm --format {_FORMATS}
        obliv worst torus:4x4 romm --channels --format {_FORMATS}
        obliv worst mesh:3x3 o1turn --plot {{w.png|w.svg|w.pdf|w.xyz|none/w.svg}}
        obliv worst mesh:3x3 o1turn --channels --plot w.svg
        obliv worst mesh:3x3 o1turn --plot w.svg --width 50
        obliv worst mesh:3x3 to --import {{own.py|fails.py|syntax.py|none.py}}
        obliv --import own.py throughput mesh:3x3 dor to-zero
        obliv throughput mesh:3x3 dor to-zero --import own.py
        obliv throughput torus:4x4 {{dor|romm}} uniform transpose complement tornado
        obliv throughput mesh:4x4 dor uniform transpose --format {_FORMATS} -o o.json
        obliv throughput mesh:4x4 o1turn {{anti-transpose|bernoulli:0.1|bit-complement|bit-reverse|clustered:4|hot-nodes:5,share=1/2|hotspot:2,2|hypercube|mesh2d|nearest-neighbor|random-permutation:seed=1|ring|shift:3|shuffle|torus2d|tree|'1/2*uniform+1/2*transpose'|'3/2*uniform'}}
        obliv throughput mesh:2x2 dor {{matrix:demand.txt|matrix:ragged.txt|matrix:negative.txt|permutation:swap.txt|permutation:twice.txt|permutation:short.txt|flows:flows.txt|demands:words.txt|matrix:bytes.txt|matrix:empty.txt|unifrom|shift|tornado:3|hotspot:9}}
        obliv throughput mesh:3x3 romm uniform --samples 20 --seed 3
        obliv throughput mesh:3x3 dor {{--traffic uniform|uniform --traffic transpose}}
        obliv throughput mesh:2x2,injection=rates.txt,ejection=1/2 dor uniform
        obliv throughput mesh:3x3,injection=rates.txt dor uniform
        obliv average {{mesh:3x3|ring:6}} {{dor|romm}} --samples 300 --seed 1
        obliv average mesh:3x3 dor --samples 300 --format {_FORMATS} -o o.json
        obliv average mesh:2x3 dor --exact --format {{table|json}}
        obliv average mesh:3x3 dor --samples 100 --ensemble {{birkhoff:3|sinkhorn|permutations|none}}
        obliv average mesh:3x3 romm --path-samples 20 --samples 50 --jobs 2
        obliv average mesh:3x3 dor --samples {{0|-1|x}}
        obliv average mesh:3x3 dor --samples 200 --plot a.{{png|svg}}
        obliv compare mesh:4x4 dor o1turn valiant --samples 100 --seed 2 --format {_FORMATS} -o o.json
        obliv compare mesh:3x3 dor odd-even --deadlock --traffic transpose,tornado --samples 50
        obliv compare mesh:3x3 dor --also mesh:4x4 --also ring:5 --samples 50 --format {{table|csv}}
        obliv compare mesh:3x3 dor romm --unit {{capacity|throughput|load}} --samples 50
        obliv compare mesh:3x3 dor romm valiant --samples 50 --plot c.svg
        obliv compare mesh:3x3 {{|dro|dmodk}} --samples 50
        obliv design mesh:3x3 --format {_FORMATS}
        obliv design {{mesh:3x3|ring:5|mesh:2x3}} {{--minimal|--max-hops 2|--max-hops 1|--max-turns 1|--vc 1|--paths 2|--quantize 8|--within ecmp|--then nothing|--no-exact|--exact|--gap 0.1|--pareto 3|--certificate --format json}}
        obliv design ring:5 --objective {{worst|ratio|average}} --samples 10 --seed 1
        obliv design mesh:3x3 --plot d.svg -o d.json
        obliv {{worst mesh:3x3 dor|ratio fattree:4,2 dmodk|design ring:5|bounds ring:5|failures ring:5 shortest}} -o closed.txt --closed
        obliv design mesh:3x3 --pareto 3 --plot p.svg
        obliv design {{complete:2|mesh:3x3 --max-hops x|mesh:3x3 --quantize 0|mesh:3x3 --minimal --max-hops 3}}
        obliv bounds {{ring:5|complete:4}}
        obliv bounds ring:5 --output b.json
        obliv bounds mesh:3x3 --format {_FORMATS}
        obliv bounds mesh:3x3 {{--gap 0.1|--certificate --format json|--plot b.svg|--gap x}}
        obliv bounds mesh:3x3 --time-limit 900
        obliv ratio {{fattree:4,2|fattree:4,3}} {{dmodk|osrmn|shortest}}
        obliv ratio fattree:4,2 dmodk --format {_FORMATS}
        obliv ratio {{mesh:3x3 dor|ring:5 ecmp|file:square.txt ecmp}}
        obliv ratio mesh:3x3 dor --traffic transpose --traffic tornado --format {_FORMATS}
        obliv ratio mesh:3x3 sampled:4,base=ecmp --traffic transpose --adaptive
        obliv ratio fattree:4,2 dmodk --traffic ring --instances 4 --seed 1 --certificate --format json
        obliv ratio mesh:2x2 dor --traffic matrix:{{demand.txt|ragged.txt|none.txt}}
        obliv ratio fattree:4,2 dmodk --plot r.svg
        obliv ratio mesh:3x3 dor --traffic transpose --plot r.svg
        obliv deadlock {{mesh:3x3|torus:3x3}} {{dor|romm|o1turn|valiant|odd-even|ecmp}}
        obliv deadlock torus:3x3 dor --format {_FORMATS} -o o.json
        obliv deadlock mesh:3x3 romm --vc {{phase|turn|family|double-y|none|dateline|xyz}}
        obliv deadlock {{torus:3x3|ring:5}} dor --vc dateline
        obliv deadlock {{ring:4 dor|mesh:3x3 romm|complete:3 shortest}} --fewest --format {{table|json|csv}}
        obliv deadlock ring:4 dor --plot d.{{svg|png}}
        obliv failures {{ring:4|mesh:3x3}} {{ecmp|shortest|dor}}
        obliv failures mesh:3x3 ecmp --format {_FORMATS}
        obliv failures mesh:3x3 ecmp --of {{links|nodes|cables|lanes|switches}} --top 3
        obliv failures mesh:3x3 ecmp --fail {{0-1|0-8|4|99|x}} --format {{table|json}}
        obliv failures mesh:3x3 dor --repair {{ecmp|updown|dor|none}} --fail 0-1
        obliv failures mesh:3x3 ecmp --symmetry off
        obliv failures mesh:3x3 ecmp --plot f.svg
        obliv collisions fattree:4,2 shift:2 --flows 2 --format {_FORMATS}
        obliv collisions fattree:4,3 {{shift:4|random-permutation:seed=1|uniform}} --flows 2
        obliv collisions fattree:4,3 shift:4 --among {{all|up|down|leaf-up}} --hash {{independent|polarised}}
        obliv collisions fattree:4,2 shift:2 --guarantee {{2@0.9|1|x|2@3}} --flows 1
        obliv collisions mesh:3x3 transpose --samples 200 --seed 4
        obliv collisions mesh:3x3 transpose --output c.json
        obliv collisions mesh:3x3 --traffic transpose --flows 1
        obliv collisions fattree:4,2 shift:2 --flows 2 --plot l.svg
        obliv bufferless {{butterfly:3|leveled-mesh:3x3|line:6|array:6|leveled-hypercube:3|unrolled-fattree:2,2|unrolled-debruijn:3|unrolled-shuffle:3}} --format {{table|json}}
        obliv bufferless {{deep:L=8,W=4,S=4|random-leveled:L=8,W=4,seed=1|multibutterfly:3|leveled-file:levels.txt|leveled-file:square.txt|leveled-file:none|mesh:3x3|torus:4x4}}
        obliv bufferless butterfly:4 -a {{direct|centralized|distributed|hot-potato|fifo|random-delay|random-rank|farthest-to-go|none}} --constants tuned
        obliv bufferless butterfly:4 -a {{direct|hot-potato|fifo|random-delay|random-rank|farthest-to-go}} --format {{table|json|csv}}
        obliv bufferless butterfly:4 --paths {{random|permutation|transpose|bit-reverse|hotspot|paths.txt|none.txt}} --seed 2
        obliv bufferless butterfly:4 -a centralized --constants {{paper|tuned|one-frame}} --format {_FORMATS}
        obliv bufferless butterfly:4 -a centralized --lambda {{4|12|3}} --sets 2 --segments {{paper|tight}}
        obliv bufferless butterfly:4 -a distributed --constants tuned --boats 2 --tie {{both-fail|survives}} --timetable {{fixed|oracle}}
        obliv bufferless butterfly:4 -a hot-potato --priority {{age|closest|farthest|random}} --seed 1
        obliv bufferless butterfly:3 -a {{direct|hot-potato}} --plot b.{{png|svg|gif|html}}
        obliv bufferless butterfly:3 --lambda 4
        obliv simulate mesh:3x3 dor {{transpose|worst|--traffic uniform}} --booksim {{none|square.txt|.}}
        obliv simulate mesh:3x3 dor transpose --booksim none {{--seeds 1|--seeds x|--router x|--router lean|--vc turn|--channels|--time-limit 0|--time-limit 5}} --format {_FORMATS}
        obliv simulate mesh:3x3 dor transpose --booksim none --plot s.{{svg|xyz}} -o s.json
        obliv list {{topologies|routings|traffic|networks|nothing}} --format {_FORMATS}
        obliv list routings -o r.{{csv|json|txt}}
        obliv list traffic --import own.py
        obliv export mesh:3x3 dor --to {{booksim|booksim-paths|sst|caminos|ns3|table|csv|dot|graphml|gml|edgelist|anynet|none}} -o e.out
        obliv export {{torus:3x3|fattree:4,2|random-regular:n=8,d=3,seed=1}} shortest --to {{booksim|booksim-paths|sst|caminos|ns3|table|csv|dot|anynet}} -o e.out
        obliv export mesh:3x3 {{romm|o1turn|valiant|ecmp}} --to {{booksim|booksim-paths|sst|table}} -o e.out
        obliv export mesh:4x4 dor --to {{booksim|sst|ns3|dot}} --traffic {{transpose|tornado|shift:1}} -o e.out
        obliv export mesh:3x3 dor --to booksim --rate {{0.1|1/3|2|x}} -o e.cfg
        obliv export mesh:3x3 {{dor|valiant}} --to booksim --router {{lean|ideal|x}} --traffic worst -o e.cfg
        obliv export mesh:3x3 o1turn --to booksim-paths --vc {{none|family|turn|xyz}} -o e.cfg
        obliv export mesh:3x3 --to {{table|dot|graphml}} -o none/e.out
        obliv plot topology {{mesh:3x3|fattree:4,2|dragonfly:p=1,a=2,h=1|file:named.csv|butterfly:2|ring:5}} -o t.svg
        obliv plot topology mesh:3x3 -o t.{{png|pdf|xyz}} --dark --width 500
        obliv plot loads {{mesh:3x3|fattree:4,2}} ecmp {{uniform|shift:1|--traffic uniform}} -o l.svg --dark --width 500
        obliv plot worst {{mesh:3x3|ring:5}} dor --kind {{network|matrix}} -o w.svg --dark --width 500
        obliv explore {{torsu:3x3|mesh:3x3 dro|mesh:3x3 dor --port 70000|mesh:3x3 dor --files none|mesh:3x3 dor --traffic none --no-browser}}
        python explore.py
        obliv reproduce
        obliv reproduce {{towles none|bufferless errata|nobody}}
        obliv reproduce u2turn {{figure5|none}} --format {{table|csv}}
        obliv reproduce u2turn figure5 --plot drawn --dark --width 500 --layout {{rows|paper}}
        obliv reproduce u2turn figure5 --format json -o u.json
        obliv study schema
        obliv study run {{none.toml|broken.toml|unknown.study.toml|small.study.toml}} --store s.db
        obliv study run other.study.toml --store s.db {{--jobs 2|--skip-impossible|--retry-failed|--dask nowhere|--mpi}} --format json -o s.json
        obliv study show {{none.db|words.txt}}
        obliv report {{none.json|words.txt}} -o r.html
        obliv {{average mesh:3x3 dor|compare mesh:3x3 dor|deadlock mesh:3x3 dor|failures mesh:3x3 dor}} --import {{own.py|fails.py}}
        obliv {{design mesh:3x3|bounds mesh:3x3|collisions fattree:4,2 to-zero|bufferless butterfly:3|reproduce|study schema}} --import own.py
        obliv {{export mesh:3x3 dor --to booksim --traffic to-zero|plot topology mesh:3x3|plot loads mesh:3x3 dor to-zero|plot worst mesh:3x3 dor}} -o i.svg --import own.py
        obliv {{study run other.study.toml --store s.db|study show s.db|study export s.db|study diff s.db s.db|study verify s.db|report s.db -o r.html|explore mesh:3x3 dro}} --import own.py
        obliv verify {{none.json|words.txt|empty.txt|bytes.txt|square.txt}}
        """,
    "saved": f"""
        obliv verify {{worst|design|design-ratio|bounds|ratio|traffic-ratio|failures|repaired|collisions|throughput|average|compare|deadlock|direct|waves|cut|forged|over}}.json
        obliv verify {{channels|hot-potato}}.json.gz
        obliv verify worst.json --format {_FORMATS}
        obliv verify {{design|ratio|failures|direct}}.json --format json
        obliv verify {{worst|design|collisions}}.json --close closed.txt
        obliv verify worst.json {{--quick|--budget 0|--budget x|--channel 3|--channel 99|--channel '(0,0) -> (1,0)'|-o v.json}}
        obliv worst mesh:3x3 design:{{design|worst|none}}.json
        obliv compare mesh:3x3 dor design:design.json --samples 50
        obliv deadlock mesh:3x3 design:design.json --vc turn
        obliv export mesh:3x3 design:design.json --to {{table|csv|sst}} -o e.out
        obliv throughput torus:4x4 romm permutation:worst.json
        obliv bufferless butterfly:3 --paths direct.json -a hot-potato
        obliv bufferless leveled-file:direct.json
        obliv report worst.json compare.json -o r.html --title Title --networks 1
        obliv report {{bounds|throughput|average|failures|collisions|deadlock|ratio|direct}}.json -o r.html
        obliv report worst.json -o r.{{pdf|html}} --networks 0
        obliv {{verify worst.json|report worst.json -o r.html --budget 5}} --files {{.|none}}
        obliv plot result {{worst|throughput|average|compare|failures|collisions|bounds|ratio|deadlock|design|direct}}.json -o p.svg
        obliv plot result compare.json p.svg --picture {{bars|plane|lines|none}} --dark --width 500 --import own.py
        """,
    "fabric": f"""
        obliv fabric check {{f.net|t.net|m.net|cable.net|two.net}}
        obliv fabric check {{f.net|cable.net}} --lft {{f.lfts|rows.lfts|t.lfts|f.net|none.lfts|empty.txt|words.txt|bytes.txt}}
        obliv fabric check f.net --lft f.lfts --format {_FORMATS}
        obliv fabric check cable.net --lft f.lfts --format {_FORMATS}
        obliv fabric check {{none.net|words.txt|empty.txt|bytes.txt|f.lfts|.}}
        obliv fabric check r.net --lft r.lfts --sl r.psl --sl2vl {{r.sl2vl|identity|f.net}} --oper-vls {{2|1}}
        obliv fabric check r.net --lft r.lfts --sl {{0|1|99|words.txt}} --sl2vl r.sl2vl
        obliv fabric check a.net --lft a.lfts --far {{a.far|m.far|words.txt}}
        obliv fabric check m.net --lft m.lfts --far m.far --strict
        obliv fabric check f.net --lft f.lfts --limits {{limits|loose|wrong|broken|none}}.toml --junit j.xml --sarif s.sarif
        obliv fabric check f.net --plan {{plan.csv|cable.net|f.net|words.txt}} --strict
        obliv fabric check f.net --lft f.lfts {{--engine ftree|--log words.txt|--guid2lid words.txt|--vlarb words.txt|--ar-info words.txt|--extended-lids}}
        obliv fabric {{check|worst|bisection}} two.net --lft two.lfts {{|--offset 0}}
        obliv fabric {{worst|ratio|shifts|average|bisection}} m.net --lft m.lfts
        obliv fabric {{worst|ratio|shifts}} {{f.net --lft f.lfts|t.net --lft s.lfts}} --format {{table|json}}
        obliv fabric {{worst|ratio|shifts}} t.net --lft t.lfts --format {{csv|markdown|latex}} -o o.json
        obliv fabric {{average|bisection}} t.net --lft t.lfts --samples 50 --seed 1 --format {_FORMATS} -o o.json
        obliv fabric throughput t.net --lft t.lfts uniform --format {_FORMATS} -o o.json
        obliv fabric throughput t.net --lft t.lfts --traffic uniform
        obliv fabric throughput {{f.net --lft f.lfts|t.net --lft t.lfts}} {{uniform|shift:4|random-permutation:seed=1|none}} --seed 1 --hottest 2
        obliv fabric {{worst|throughput|average|bisection|shifts}} f.net --lft rows.lfts --skip-missing {{|uniform}}
        obliv fabric {{worst|ratio|average|bisection|shifts|failures}} f.net --lft rows.lfts
        obliv fabric {{worst|ratio|average|bisection|shifts}} two.net --lft two.lfts --offset {{0|spread}}
        obliv fabric worst two.net --lft two.lfts --offset {{group|half|x}}
        obliv fabric {{throughput two.net --lft two.lfts uniform|job two.net --lft two.lfts --hosts hosts.txt --pattern ring|failures two.net --lft two.lfts}} --offset {{group|index}}
        obliv fabric {{ratio|throughput|failures|whatif|job|average|bisection|shifts}} f.net --lft f.lfts --guid2lid words.txt --pattern ring
        obliv fabric worst a.net --far a.far --adaptive {{static|even|best|worst|none}} --hottest 2
        obliv fabric worst a.net --lft a.lfts --far a.far --ar-info words.txt --sl 1 --plft 0
        obliv fabric worst f.net --lft f.lfts {{--hottest 0|--hottest x|--jobs 2|--dask nowhere|--mpi|--guid2lid words.txt}}
        obliv fabric worst f.net --lft f.lfts --plot w.svg
        obliv fabric check f.net --lft f.lfts --output c.json
        obliv fabric failures t.net --lft t.lfts --format {_FORMATS}
        obliv fabric failures f.net --lft f.lfts -o w.json
        obliv fabric failures t.net --lft t.lfts --of {{cables|lanes|switches|none}} --top 3
        obliv fabric failures t.net --lft t.lfts --repair {{keep|refill|updown|minimal|none}} --fail 'switch((0,0),1)/3'
        obliv fabric failures f.net --lft f.lfts --fail {{'switch((0),1)/5'|'switch((0),1)'|nobody/1|'switch((0),1)/99'}}
        obliv fabric failures f.net --lft f.lfts --symmetry off
        obliv fabric failures f.net --lft f.lfts --plot w.svg
        obliv fabric whatif f.net --lft f.lfts {{--fail 'switch((0),1)/5'|--fail 'switch((1),1)'|--set 'switch((0),1)/3=6'|--set 'switch((0),1)/3=none'|--fail nobody/1|--set x|--add 'switch((0),1)/5'}}
        obliv fabric whatif f.net --lft f.lfts --fail 'switch((0),1)/5' --net w.net --format {_FORMATS} -o o.json
        obliv fabric whatif two.net --lft two.lfts --offset 0 --fail 'switch((0),1)/5'
        obliv fabric whatif f.net --lft f.lfts --base f.state --fail 'switch((0),1)/5'
        obliv fabric whatif t.net --lft t.lfts --fail 'switch((0,0),1)/3'
        obliv fabric whatif f.net --lft f.lfts --fail 'switch((0),1)/5' --plot w.svg
        obliv fabric job f.net --lft f.lfts --hosts {{hosts.txt|nobody.txt|empty.txt|none.txt}} --pattern {{ring|alltoall}}
        obliv fabric job f.net --lft f.lfts --hosts hosts.txt --pattern {{recursive-doubling|recursive-halving|rabenseifner|bruck|binomial|hierarchical|stencil2d|stencil3d|file:demand.txt|none}}
        obliv fabric job f.net --lft f.lfts --hosts hosts.txt --pattern ring --per-host 2 --rails {{rank|all|first|none}} --hottest 2
        obliv fabric job f.net --lft f.lfts --hosts hosts.txt --pattern ring --order o.txt --effort 0.5 --seed 1 --skip-missing
        obliv fabric job f.net --lft f.lfts --pattern ring --worst-hosts 4 --seed 1
        obliv fabric job f.net --lft f.lfts --hosts hosts.txt --pattern ring --format {_FORMATS} -o o.json
        obliv fabric job f.net --lft f.lfts --hosts hosts.txt --pattern ring --plot w.svg
        obliv fabric route {{f.net|cable.net}} --engine {{auto|osrm3-d|osrm2|osrm2-c|dmodk|updown|minimal|dor-dateline|none}} -o n.lfts
        obliv fabric route m.net --engine {{auto|updown|minimal|dor-dateline|two-turn|dmodk}} --lanes 2 --psl n.psl --sl2vl n.sl2vl -o n.lfts
        obliv fabric route {{f.net --lft f.lfts|t.net --lft s.lfts}} -o n.lfts --format {_FORMATS}
        obliv fabric route t.net --lft s.lfts --by {{worst|uniform|shifts|balanced|none}} -o n.lfts --seed 1 --effort 0.5
        obliv fabric route t.net --lft t.lfts --allow {{worst=9|x}} -o n.lfts --force
        obliv fabric route r.net --lft r.lfts --ignore-credit-loops --engine updown -o n.lfts
        obliv fabric route f.net --engine osrm2 --lmc {{0|1|9}} --offset {{group|0-0-1-1}} -o n.lfts --net n.net --extended-lids
        obliv fabric route m.net --engine layered --lanes 2 --oper-vls 2 --policy n.policy -o n.lfts
        obliv fabric route f.net --guid2lid words.txt -o n.lfts
        obliv fabric route t.net --lft s.lfts -o n.lfts --plot w.svg
        obliv fabric export f.net -o e.{{graphml|anynet|net|xyz}}
        obliv fabric export f.net -o e.out --to {{graphml|anynet|net|none}} --extended-lids
        obliv fabric export f.net -o e.net --guid2lid words.txt
        obliv fabric generate {{fattree:4,2|torus:3x3|dragonfly:p=1,a=2,h=1|butterfly:2|mesh:3x3,injection=1/2|none}} -o g.net --rate {{4xHDR|1xSDR}}
        obliv fabric generate fattree:4,2 -o g.net --routing {{dmodk|ecmp|none}} --tables g.lfts --extended-lids
        obliv fabric generate fattree:4,2 -o g.net {{--rate x|--routing dmodk|--tables g.lfts|--adaptive updn|--far g.far|--adaptive none --far g.far}}
        obliv worst fabric:f.net {{lft:f.lfts|ecmp|dmodk|lft:none|lft:t.lfts|updown}}
        obliv {{deadlock|failures|ratio}} fabric:f.net lft:f.lfts
        obliv deadlock fabric:r.net lft:r.lfts,sl2vl=r.sl2vl,sl=r.psl
        obliv compare fabric:t.net lft:t.lfts lft:s.lfts --samples 50
        obliv throughput fabric:f.net lft:f.lfts uniform shift:4
        obliv verify {{worst|failures|check|ratio|whatif}}.json
        obliv report {{worst|failures|check}}.json -o r.html
        obliv plot topology fabric:f.net -o t.svg
        obliv fabric {{check|worst|ratio|failures|average --samples 50|bisection --samples 50|shifts|throughput to-zero|whatif --fail 'switch((0),1)/5'|job --hosts hosts.txt --pattern ring}} a.net --lft a.lfts --import own.py
        obliv fabric {{route a.net|export a.net|generate fattree:4,2}} -o i.net --import own.py
        """,
    "study": f"""
        obliv study show small.db --format {_FORMATS} -o s.json
        obliv study show small.db --study {{small|none}}
        obliv study export small.db --format {{csv|json|parquet}} -o e.out
        obliv study export small.db {{-o e.csv|-o e.parquet|-o e.xyz|--study none}}
        obliv study diff small.db other.db --format {_FORMATS}
        obliv study diff small.db {{small.db|none.db|own.py}} -o d.json
        obliv study verify small.db --format {{table|json}}
        obliv study verify other.db --files . --budget {{0|10}} --study {{other|none}} -o v.json
        obliv study run small.study.toml --store small.db --jobs 1 {{|--skip-impossible}}
        obliv study run other.study.toml --store small.db --jobs 1
        obliv report small.db -o r.html --study small --networks 2
        """,
}

#: Python, for what no verb reaches.
SCRIPTS = {
    "files": [
        "import obliv; print(*sorted(obliv.__all__), sep='\\n')",
        "import obliv.fabric; print(*sorted(obliv.fabric.__all__), sep='\\n')",
        "import obliv; t = obliv.topology('torus:4x4'); print(t.spec, t.channel_count, t.terminal_count, t.describe_channel(3))",
        "import obliv; r = obliv.routing('1/2*dor+1/2*romm', 'mesh:3x3'); print(r.spec, sorted(r.paths(0, 8).items()))",
        "import obliv; w = obliv.worst_case('mesh:3x3', 'dor'); print(w); print(repr(w)); print(w.to_dict())",
        "import obliv; w = obliv.worst_case('mesh:3x3', 'dor'); print(w == obliv.worst_case('mesh:3x3', 'dor'), hash(w))",
        "import obliv, pickle; w = obliv.worst_case('ring:5', 'dor'); print(pickle.loads(pickle.dumps(w)) == w)",
        "import obliv; print(obliv.worst_case('mesh:3x3', 'dor')._repr_html_()[:2000])",
        "import obliv; print(obliv.failures('mesh:3x3', 'ecmp', of='foo'))",
        "import obliv; print(obliv.worst_case('mesh:3x3', 5))",
        "import obliv; print(obliv.load('none.json'))",
        "import obliv; print(obliv.throughput('mesh:3x3', 'dor', [[0] * 9] * 8))",
        "import obliv.fabric; print(obliv.fabric.read_fabric('words.txt'))",
        "import obliv; [print(e.__name__, e.__mro__[1].__name__) for e in vars(obliv).values() if isinstance(e, type) and issubclass(e, Exception)]",
    ],
    "saved": [
        "import obliv; r = obliv.load('worst.json'); print(r); print(obliv.verify('worst.json'))",
        "import obliv; [print(obliv.load(f'{n}.json')) for n in ('design', 'bounds', 'ratio', 'failures', 'collisions', 'direct')]",
        "import obliv; c = obliv.load('compare.json'); print(c.to_dataframe().to_csv())",
        "import obliv; obliv.load('channels.json.gz').save('again.json')",
    ],
    "fabric": [
        "from obliv.fabric import read_fabric; f = read_fabric('f.net'); print(f); print(len(f.switches))",
        "import obliv; [print(obliv.load(f'{n}.json')) for n in ('worst', 'failures', 'check', 'ratio', 'whatif')]",
    ],
    "study": ["import obliv.study; s = obliv.study.open_store('small.db'); print(s)"],
}


# Chains of commands: {"name", "setup", "files", "commands"}; the commands of one run one after the other in one folder.


def chains(slow: bool) -> list[dict[str, Any]]:
    """Return all chains: those of pages, examples in the help, and the table."""
    single = [("", f"obliv {words}--help") for words in ("", *(f"{verb} " for verb in commands_of()))]
    single += [("", example) for verb in commands_of().values() for example in examples(verb)]
    single += lines()
    distinct = {one: None for one in single if not re.match(LEFT_OUT, one[1])}
    return [
        *pages(slow),
        *({"name": named(*one), "setup": one[0], "files": {}, "commands": [one[1]]} for one in distinct),
    ]


def named(setup: str, command: str) -> str:
    """Return a name of a file for a command, the same wherever it stands in a table."""
    digest = hashlib.sha256(f"{setup}|{command}".encode()).hexdigest()[:6]
    return f"{re.sub(r'[^A-Za-z0-9]+', '-', command.removeprefix('obliv '))[:70].strip('-')}.{digest}"


def pages(slow: bool) -> Iterator[dict[str, Any]]:
    """Yield the commands of each page of the docs, and its Python sessions as one at the end."""
    made = {"_build", "gallery", "generated"}
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        if made & set(page.parts):
            continue
        files: dict[str, str] = {}
        commands: list[str] = []
        session = []
        text = page.read_text(encoding="utf-8")
        for language, more, body in re.findall(r"^```(\w+)([^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            if "slow" in more.split() and not slow:
                continue
            if title := re.search(r'title="([^"]+)"', more):
                commands += [f"file {title[1]}"] if title[1] in files else []
                files[f"{title[1]}#{len(commands)}" if title[1] in files else title[1]] = body
            elif language == "console":
                lines = re.findall(r"^\$ (.*(?:\\\n.*)*)\n", body, re.MULTILINE)
                lines = [line.replace("\\\n", " ").removeprefix("pip install uv && uv run ") for line in lines]
                commands += [line for line in lines if line.startswith(("obliv", "python"))]
            elif language == "pycon":
                session.append(body)
        if session:
            files["session.txt"] = "\n".join(session)
            commands.append("session session.txt")
        if commands:
            name = str(page.relative_to(ROOT).with_suffix("")).replace("/", ".")
            yield {"name": name, "setup": "", "files": files, "commands": commands}


def commands_of() -> dict[str, Any]:
    """Return the command of every verb and sub-verb, as "fabric worst"."""
    from typer.main import get_command

    from obliv.cli.app import app

    def below(command: Any, name: str) -> Iterator[tuple[str, Any]]:
        if not hasattr(command, "list_commands"):
            yield name, command
            return
        context = command.context_class(command)
        for word in command.list_commands(context):
            yield from below(command.get_command(context, word), f"{name} {word}".strip())

    return dict(below(get_command(app), ""))


def examples(verb: Any) -> list[str]:
    """Return the examples in the help of a verb."""
    paragraphs = re.split(r"\n\s*\n", verb.help or "")
    texts = [re.sub(r"\s+", " ", paragraph.strip()) for paragraph in paragraphs]
    return [text.removeprefix("Example: ") for text in texts if re.match(r"(Example: )?obliv ", text)]


def unused(all_chains: list[dict[str, Any]]) -> list[str]:
    """Return the options of verbs that no command uses."""
    used: set[tuple[str, str]] = set()
    verbs = commands_of()
    for line in (line for chain in all_chains for line in chain["commands"] if line.startswith("obliv")):
        words = shlex.split(line)[1:]
        name = next((name for name in (" ".join(words[:2]), " ".join(words[:1])) if name in verbs), "")
        used |= {(name, word.partition("=")[0]) for word in words if word.startswith("-")}
    return [
        f"{name} {parameter.opts[0]}"
        for name, verb in verbs.items()
        for parameter in verb.params
        if parameter.param_type_name == "option"
        and not {(name, word) for word in [*parameter.opts, *parameter.secondary_opts]} & used
    ]


# The tables.


def lines() -> Iterator[tuple[str, str]]:
    """Yield a setup and a command for all that stands in the tables."""
    for setup, text in TABLE.items():
        for line in text.strip().splitlines():
            yield from ((setup, command) for command in alternatives(line.strip()))
    for setup, scripts in SCRIPTS.items():
        yield from ((setup, f"python -c {shlex.quote(script)}") for script in scripts)


def alternatives(line: str) -> list[str]:
    """Return a line with every choice of its {some|alternatives}."""
    parts = re.split(r"\{([^{}]*\|[^{}]*)\}", line)
    choices = [part.split("|") if i % 2 else [part] for i, part in enumerate(parts)]
    return ["".join(choice) for choice in itertools.product(*choices)]

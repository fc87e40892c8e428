import sys,collections
from tests.protocol.chaos import *
tot=collections.Counter()
a,b=int(sys.argv[1]),int(sys.argv[2])
kw={k:int(v) for k,v in (x.split('=') for x in sys.argv[3:])}
for seed in range(a,b):
    c=Chaos(seed,**kw)
    try: c.run()
    except Exception as e:
        tot['fail']+=1; print(seed,len(c.sessions),sorted(c.liars),repr(e)[:500])
        continue
    tot['runs']+=1
    for s in c.honest():
        S=c.session(s)
        tot['views']+=S.replica.view; tot['steps']+=S.replica.step; tot['convicted']+=len(S.convicted); tot['out']+=S.out; tot['phase '+S.replica.phase.name]+=1
        for v in S.convicted.values(): tot['rule '+v.rule]+=1
        tot['honest']+=1
print(dict(tot))

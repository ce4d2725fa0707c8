from setrl.train.runs.provenance import provenance


def test_provenance(monkeypatch):
    monkeypatch.setattr("sys.argv", ["/somewhere/bin/setrl", "train", "--config", "a b.yaml"])
    found = provenance()
    assert found["command"] == "setrl train --config 'a b.yaml'"
    assert {"python", "torch", "trl", "setrl"} <= set(found["versions"])
    assert found["git"] is None or len(found["git"]["commit"]) == 40

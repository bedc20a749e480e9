"""SPARK_HOME has links to all files of Spark except the zip file."""

from barnabas.spark.tuning import link_without_zip


def test_links_all_files_except_the_zip(tmp_path):
    installed, place = tmp_path / "pyspark", tmp_path / "home"
    files = ["jars/a.jar", "bin/spark-submit", "python/pyspark/x.py", "python/lib/py4j.zip"]
    for name in [*files, "python/lib/pyspark.zip"]:
        (installed / name).parent.mkdir(parents=True, exist_ok=True)
        (installed / name).write_text(name)
    link_without_zip(installed, place)
    assert all((place / name).read_text() == name for name in files)
    assert not (place / "python/lib/pyspark.zip").exists()

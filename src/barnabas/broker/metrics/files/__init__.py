"""Grafana dashboards and Prometheus alert rules; `barnabas metrics files DIR` writes them."""

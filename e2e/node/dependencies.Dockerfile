# What our programs need, on a Debian with Python. Changes with requirements/runtime.txt only.
ARG BASE=python:3.11-slim-bookworm
FROM ${BASE}
COPY site /opt/olmv1/dependencies

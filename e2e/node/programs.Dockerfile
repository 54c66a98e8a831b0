# Our programs as they are in the work tree.
ARG BASE
FROM ${BASE}
COPY programs /opt/olmv1/programs
COPY bin /usr/local/bin
ENV PYTHONPATH=/opt/olmv1/programs:/opt/olmv1/dependencies PYTHONDONTWRITEBYTECODE=1
USER 65532:65532

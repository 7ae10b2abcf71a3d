ARG BUILD_IMAGE=docker.io/library/node:24-trixie-slim
ARG RUNTIME_IMAGE=gcr.io/distroless/nodejs24-debian13:nonroot
# In the commit of a release, each has the digest that its tag had then (scripts/release/prepare.ts).

# Runs on the machine that builds, whatever the platform of the image: nothing below runs the programs of another platform.
FROM --platform=$BUILDPLATFORM ${BUILD_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc tsconfig.json tsconfig.build.json ./
RUN npm ci --ignore-scripts
COPY main.ts ./
COPY src src
COPY lab lab
RUN npm run build
COPY prometheus/rules.yml prometheus/alertmanager.yml prometheus/
# Production packages alone, with the binaries of the platform. npm's own record of them is of no use in the image.
ARG TARGETARCH
RUN if [ "$TARGETARCH" = amd64 ]; then cpu=x64; else cpu=$TARGETARCH; fi && \
    npm ci --ignore-scripts --omit=dev --os=linux --cpu="$cpu" --libc=glibc && rm node_modules/.package-lock.json
COPY deploy/image/healthcheck.mjs LICENSE ./
# Last, so that a new version or revision builds from the cache. VERSION defaults to the version in package.json.
ARG VERSION
ARG REVISION=unknown
RUN if [ -n "$VERSION" ]; then npm pkg set "version=$VERSION"; fi && echo "$REVISION" > REVISION

FROM ${RUNTIME_IMAGE}
ARG VERSION
ARG REVISION=unknown
LABEL org.opencontainers.image.title="telemetry-station-exporter" \
      org.opencontainers.image.description="Prometheus exporter for the resources attached to telemetry stations" \
      org.opencontainers.image.source="https://github.com/telemetry-station-exporter/telemetry-station-exporter" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
WORKDIR /app
ENV NODE_ENV=production
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
# What `check` compares the rules and inhibitions of others with.
COPY --from=build /app/prometheus prometheus
COPY --from=build /app/package.json /app/REVISION /app/LICENSE /app/healthcheck.mjs ./
# Numeric, so that Kubernetes can verify runAsNonRoot.
USER 65532:65532
EXPOSE 9842
HEALTHCHECK --interval=15s --timeout=5s --start-period=10s CMD ["/nodejs/bin/node", "/app/healthcheck.mjs"]
# A small young generation: V8 keeps its default of up to 192 MiB resident although the heap needs a few of them.
ENTRYPOINT ["/nodejs/bin/node", "--max-semi-space-size=4", "/app/dist/main.js"]
CMD ["--config.file=/etc/telemetry-station-exporter/config.yaml"]

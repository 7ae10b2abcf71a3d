ARG BUILD_IMAGE=docker.io/library/node:24-bookworm-slim
ARG RUNTIME_IMAGE=gcr.io/distroless/nodejs24-debian12:nonroot
# Renovate pins both by digest; CONTRIBUTING.md describes how to do it by hand.

FROM ${BUILD_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc tsconfig.json tsconfig.build.json ./
RUN npm ci --ignore-scripts
COPY src src
RUN npm run build && npm prune --omit=dev --ignore-scripts
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
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
WORKDIR /app
ENV NODE_ENV=production
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/package.json /app/REVISION /app/LICENSE /app/healthcheck.mjs ./
# Numeric, so that Kubernetes can verify runAsNonRoot.
USER 65532:65532
EXPOSE 9842
HEALTHCHECK --interval=15s --timeout=5s --start-period=10s CMD ["/nodejs/bin/node", "/app/healthcheck.mjs"]
# A small young generation: V8 keeps its default of up to 192 MiB resident although the heap needs a few of them.
ENTRYPOINT ["/nodejs/bin/node", "--max-semi-space-size=4", "/app/dist/main.js"]
CMD ["--config.file=/etc/telemetry-station-exporter/config.yaml"]

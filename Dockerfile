FROM docker.io/library/node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc tsconfig.json tsconfig.build.json ./
RUN npm ci --ignore-scripts
COPY src src
RUN npm run build && npm prune --omit=dev --ignore-scripts
ARG REVISION=unknown
RUN echo "$REVISION" > REVISION

FROM gcr.io/distroless/nodejs24-debian12:nonroot
WORKDIR /app
COPY --from=build /app/package.json /app/REVISION ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
EXPOSE 9842
ENTRYPOINT ["/nodejs/bin/node", "dist/main.js"]
CMD ["--config.file=/etc/telemetry-station-exporter/config.yaml"]

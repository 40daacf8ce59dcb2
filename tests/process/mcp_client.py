# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Asks `gpuprof mcp` by the protocol's own SDK, and prints what it answers as JSON. Run by the interpreter of .deps/mcp:
mcp_client.py MODE CALLS COMMAND... where CALLS is a list of [tool, arguments] as JSON."""

import asyncio
import json
import sys

import jsonschema
from mcp import StdioServerParameters
from mcp.client.client import Client


async def ask(mode, calls, command):
    server = StdioServerParameters(command=command[0], args=command[1:])
    async with Client(server, mode=mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        answers = []
        for name, arguments in calls:
            result = await client.call_tool(name, arguments)
            content = result.structured_content
            jsonschema.Draft202012Validator.check_schema(tools[name].output_schema)
            jsonschema.validate(content, tools[name].output_schema)
            answers.append({"content": content, "text": result.content[0].text, "is_error": bool(result.is_error)})
        initialized = client.session.initialize_result
        return {"version": client.session.protocol_version if hasattr(client.session, "protocol_version") else None,
                "handshake": initialized.protocol_version if initialized is not None else None,
                "tools": {name: tool.model_dump(by_alias=True, mode="json") for name, tool in tools.items()},
                "answers": answers}


def main():
    mode, calls, *command = sys.argv[1:]
    print(json.dumps(asyncio.run(ask(mode, json.loads(calls), command))))


if __name__ == "__main__":
    main()

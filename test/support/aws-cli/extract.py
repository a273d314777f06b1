"""Writes operations.json from the service models of botocore, which the AWS CLI reads its parameters from.

python3 -m venv /tmp/v && /tmp/v/bin/pip install botocore==1.43.107 && /tmp/v/bin/python test/support/aws-cli/extract.py

A parameter ends in `*` if it is required, and in `!` if it is a flag. Members of a structure follow it in parentheses.
"""
import gzip
import json
import os
import sys

import botocore
from botocore import xform_name

SERVICES = ['cloudformation', 'cloudwatch', 'dynamodb', 'events', 'kms', 'lambda', 'logs', 's3', 'service-quotas', 'sesv2', 'sns',
            'sqs', 'sts']
CLI_NAMES = {'s3': 's3api'}
DATA = os.path.join(os.path.dirname(botocore.__file__), 'data')


def read(service, name):
    folder = os.path.join(DATA, service, sorted(os.listdir(os.path.join(DATA, service)))[-1])
    for path, reader in ((f'{name}.json', open), (f'{name}.json.gz', gzip.open)):
        if os.path.exists(os.path.join(folder, path)):
            with reader(os.path.join(folder, path)) as file:
                return json.load(file)
    return {}


def parameter(shapes, name, member, required):
    shape = shapes[member['shape']]
    text = xform_name(name, '-')
    if shape['type'] == 'structure':
        text += '(' + ','.join(shape['members']) + ')'
    if shape['type'] == 'boolean':
        text += '!'
    return text + ('*' if name in required else '')


def operations(service):
    model = read(service, 'service-2')
    shapes = model['shapes']
    found = {}
    for name, operation in sorted(model['operations'].items()):
        shape = shapes[operation['input']['shape']] if 'input' in operation else {'members': {}}
        required = shape.get('required', [])
        found[xform_name(name, '-')] = [parameter(shapes, n, m, required) for n, m in shape['members'].items()]
    for waiter, description in sorted(read(service, 'waiters-2').get('waiters', {}).items()):
        found[f'wait {xform_name(waiter, "-")}'] = found[xform_name(description['operation'], '-')]
    return found


with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'operations.json'), 'w') as out:
    services = {CLI_NAMES.get(service, service): operations(service) for service in SERVICES}
    lines = [f'    "{s}": {{\n' + ',\n'.join(f'      {json.dumps(o)}: {json.dumps(" ".join(p))}' for o, p in sorted(ops.items())) + '\n    }'
             for s, ops in sorted(services.items())]
    out.write(f'{{\n  "source": "botocore {botocore.__version__}",\n  "services": {{\n' + ',\n'.join(lines) + '\n  }\n}\n')
